//! Detects in the renderer's descriptions that another program changed a camera's field of view or pose.
use crate::frames::Transform;

/// Number of consecutive equal descriptions that confirm a change.
const CONFIRMED_AFTER: u8 = 2;
/// Largest rounding error of a field of view, in degrees.
const SAME_FOV_DEG: f32 = 0.001;
/// Largest error of the described position of a camera on a vehicle at rest, in m.
const SAME_POSITION_M: f64 = 0.05;
/// Largest error of that camera's described direction, in rad.
const SAME_DIRECTION_RAD: f64 = 0.01;

/// A described value that differs from the published one, and the number of consecutive equal descriptions.
#[derive(Clone, Copy, Debug, Default)]
struct UnconfirmedChange<T>(Option<(T, u8)>);

impl<T: Copy> UnconfirmedChange<T> {
    /// Takes a described value, and the requested and the published (`shown`) value; returns the new published value if a change is
    /// confirmed.
    fn add_description(
        &mut self,
        value: T,
        (requested, shown): (T, T),
        is_same: impl Fn(T, T) -> bool,
    ) -> Option<T> {
        if is_same(value, shown) {
            self.0 = None;
            return None;
        }
        let before = self.0.filter(|(other, _)| is_same(*other, value));
        let times = before.map_or(1, |(_, times)| times + 1);
        self.0 = (times < CONFIRMED_AFTER).then_some((value, times));
        let published = if is_same(value, requested) { requested } else { value };
        self.0.is_none().then_some(published)
    }
}

/// The field of view of a camera, in degrees.
#[derive(Clone, Debug, Default)]
pub struct DescribedFov(UnconfirmedChange<f32>);

impl DescribedFov {
    /// Takes a described field of view, and the requested and the published one; returns the new published one if a change
    /// is confirmed.
    pub fn described(&mut self, fov_deg: f32, (requested, shown): (f32, f32)) -> Option<f32> {
        let is_possible = fov_deg.is_finite() && fov_deg > 0.0;
        let is_same = |a: f32, b: f32| (a - b).abs() < SAME_FOV_DEG;
        let published = self.0.add_description(fov_deg, (requested, shown), is_same);
        published.filter(|_| is_possible)
    }
}

/// A description of a camera's pose.
#[derive(Clone, Copy, Debug)]
pub struct MountDescription {
    /// The camera in the parent of its `_link`.
    pub pose: Transform,
    /// Tolerance for the motion of its carrier, in m.
    pub slack_m: f64,
    /// Tolerance for the camera's direction, in rad.
    pub slack_rad: f64,
}

/// Result of a description of a camera's pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PoseChange {
    /// The published pose, or a change that is not confirmed or follows [`Self::Misread`].
    Same,
    /// The camera was moved to this pose.
    Moved(Transform),
    /// The first confirmed pose differs from the requested one: the renderer interprets the mount differently, or another
    /// program changed it first. Returned once.
    Misread(Transform),
}

/// The pose of a camera in the parent of its `_link`.
#[derive(Clone, Debug)]
pub struct DescribedMount {
    requested: Transform,
    shown: Transform,
    change: UnconfirmedChange<Transform>,
    /// The camera is on a vehicle's bottom, whose height only the renderer has.
    is_at_bottom: bool,
    /// Described height above the requested one.
    height_m: Option<f64>,
    /// Whether descriptions agreed with the requested pose; `None`: not known yet.
    has_agreed: Option<bool>,
}

impl DescribedMount {
    /// Creates a mount with the requested pose; `is_at_bottom`: a vehicle's bottom carries it, and the first
    /// description gives its height.
    pub fn new(requested: Transform, is_at_bottom: bool) -> Self {
        let change = UnconfirmedChange::default();
        Self { requested, shown: requested, change, is_at_bottom, height_m: None, has_agreed: None }
    }

    /// Returns the requested pose.
    pub fn requested(&self) -> Transform {
        self.requested
    }

    /// Returns the published pose.
    pub fn shown(&self) -> Transform {
        self.shown
    }

    /// Takes a description.
    pub fn described(&mut self, description: &MountDescription) -> PoseChange {
        let mut pose = description.pose;
        if self.is_at_bottom {
            let above = pose.translation()[2] - self.requested.translation()[2];
            let height = *self.height_m.get_or_insert(above);
            pose = pose.shifted([0.0, 0.0, -height]);
        }
        let (max_m, max_rad) =
            (SAME_POSITION_M + description.slack_m, SAME_DIRECTION_RAD + description.slack_rad);
        let is_same =
            |a: Transform, b: Transform| a.distance_to(&b) < max_m && a.angle_to(&b) < max_rad;
        let confirmed = self.change.add_description(pose, (self.requested, self.shown), is_same);
        match (confirmed, self.has_agreed) {
            (None, _) => {
                if self.change.0.is_none() {
                    self.has_agreed = Some(true);
                }
                PoseChange::Same
            }
            (Some(pose), Some(true)) => PoseChange::Moved(pose),
            (Some(pose), None) => {
                self.has_agreed = Some(false);
                PoseChange::Misread(pose)
            }
            (Some(_), Some(false)) => PoseChange::Same,
        }
    }

    /// Sets the published pose.
    pub fn follow(&mut self, pose: Transform) {
        self.shown = pose;
    }
}

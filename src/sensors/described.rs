//! Field of view and pose of a camera in the renderer's descriptions; another program may have changed them.
use crate::frames::Transform;

/// Equal descriptions in a row that confirm a change.
const DESCRIPTIONS: u8 = 2;
/// Largest rounding error of a field of view, in degrees.
const SAME_FOV_DEG: f32 = 0.001;
/// Largest error of the described position of a camera on a vehicle at rest, in m.
const SAME_PLACE_M: f64 = 0.05;
/// Largest error of its direction, in rad.
const SAME_DIRECTION_RAD: f64 = 0.01;

/// A described value that differs from the published one, and the number of equal descriptions in a row.
#[derive(Clone, Copy, Debug, Default)]
struct UnconfirmedChange<T>(Option<(T, u8)>);

impl<T: Copy> UnconfirmedChange<T> {
    /// Takes a described value; returns the new published value if a change is confirmed.
    fn described(
        &mut self,
        value: T,
        (requested, shown): (T, T),
        same: impl Fn(T, T) -> bool,
    ) -> Option<T> {
        if same(value, shown) {
            self.0 = None;
            return None;
        }
        let before = self.0.filter(|(other, _)| same(*other, value));
        let times = before.map_or(1, |(_, times)| times + 1);
        self.0 = (times < DESCRIPTIONS).then_some((value, times));
        let now = if same(value, requested) { requested } else { value };
        self.0.is_none().then_some(now)
    }
}

/// The field of view of a camera, in degrees.
#[derive(Clone, Debug, Default)]
pub struct DescribedFov(UnconfirmedChange<f32>);

impl DescribedFov {
    /// Takes a description of a camera with its requested and its published field of view; returns the new one if a change is
    /// confirmed.
    pub fn described(&mut self, fov_deg: f32, (requested, shown): (f32, f32)) -> Option<f32> {
        let possible = fov_deg.is_finite() && fov_deg > 0.0;
        let same = |a: f32, b: f32| (a - b).abs() < SAME_FOV_DEG;
        let now = self.0.described(fov_deg, (requested, shown), same);
        now.filter(|_| possible)
    }
}

/// A description of a camera's pose.
#[derive(Clone, Copy, Debug)]
pub struct Sighting {
    /// The camera in the parent of its `_link`.
    pub pose: Transform,
    /// Tolerance for the motion of its carrier, in m.
    pub slack_m: f64,
    /// Tolerance of its direction, in rad.
    pub slack_rad: f64,
}

/// Result of a description of a camera's pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PoseChange {
    /// The published pose.
    Same,
    /// The camera was moved to this pose.
    Moved(Transform),
    /// The first confirmed pose differs from the requested one: the renderer interprets the mount differently, or another program
    /// was faster. Returned once.
    Misread(Transform),
}

/// The pose of a camera in the parent of its `_link`.
#[derive(Clone, Debug)]
pub struct DescribedMount {
    requested: Transform,
    shown: Transform,
    other: UnconfirmedChange<Transform>,
    /// Carried by a vehicle's bottom, whose height only the renderer knows.
    at_bottom: bool,
    /// Described height above the requested one.
    higher_m: Option<f64>,
    /// Whether the camera was described at the requested pose.
    agrees: Option<bool>,
}

impl DescribedMount {
    /// Creates a mount with the requested pose; `at_bottom`: a vehicle's bottom carries it, and the first
    /// description gives its height.
    pub fn new(requested: Transform, at_bottom: bool) -> Self {
        let other = UnconfirmedChange::default();
        Self { requested, shown: requested, other, at_bottom, higher_m: None, agrees: None }
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
    pub fn described(&mut self, sighting: &Sighting) -> PoseChange {
        let mut pose = sighting.pose;
        if self.at_bottom {
            let above = pose.translation()[2] - self.requested.translation()[2];
            let higher = *self.higher_m.get_or_insert(above);
            pose = pose.shifted([0.0, 0.0, -higher]);
        }
        let (near_m, near_rad) =
            (SAME_PLACE_M + sighting.slack_m, SAME_DIRECTION_RAD + sighting.slack_rad);
        let same =
            |a: Transform, b: Transform| a.distance_to(&b) < near_m && a.angle_to(&b) < near_rad;
        let moved = self.other.described(pose, (self.requested, self.shown), same);
        match (moved, self.agrees) {
            (None, _) => {
                if self.other.0.is_none() {
                    self.agrees = Some(true);
                }
                PoseChange::Same
            }
            (Some(pose), Some(true)) => PoseChange::Moved(pose),
            (Some(pose), None) => {
                self.agrees = Some(false);
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

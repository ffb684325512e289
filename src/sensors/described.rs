//! What the renderer's descriptions show of a camera: its field of view and its pose in its mount, which another program may
//! have changed.
use crate::frames::Transform;

/// Descriptions in a row that show something else than what is published, until they are believed.
const DESCRIPTIONS: u8 = 2;
/// Greater differences of fields of view, in degrees, are no rounding.
const SAME_FOV_DEG: f32 = 0.001;
/// A camera on a vehicle at rest is described this near to where it is, in m.
const SAME_PLACE_M: f64 = 0.05;
/// The same of its direction, in rad.
const SAME_DIRECTION_RAD: f64 = 0.01;

/// What is described of a camera instead of what its frames show, and how many times in a row.
#[derive(Clone, Copy, Debug)]
struct Other<T>(Option<(T, u8)>);

impl<T: Copy> Other<T> {
    /// Takes a described value; returns what frames show from now on, if that is something else than what they show now.
    fn described(
        &mut self,
        value: T,
        (asked, shown): (T, T),
        same: impl Fn(T, T) -> bool,
    ) -> Option<T> {
        if same(value, shown) {
            self.0 = None;
            return None;
        }
        let before = self.0.filter(|(other, _)| same(*other, value));
        let times = before.map_or(1, |(_, times)| times + 1);
        self.0 = (times < DESCRIPTIONS).then_some((value, times));
        let now = if same(value, asked) { asked } else { value };
        self.0.is_none().then_some(now)
    }
}

/// The field of view of a camera, in degrees.
#[derive(Clone, Debug)]
pub struct DescribedFov(Other<f32>);

impl Default for DescribedFov {
    fn default() -> Self {
        Self(Other(None))
    }
}

impl DescribedFov {
    /// Takes a description of a camera that was asked for with one field of view and shows one; returns what it shows from now
    /// on, if that is something else.
    pub fn described(&mut self, fov_deg: f32, (asked, shown): (f32, f32)) -> Option<f32> {
        let possible = fov_deg.is_finite() && fov_deg > 0.0;
        let same = |a: f32, b: f32| (a - b).abs() < SAME_FOV_DEG;
        let now = self.0.described(fov_deg, (asked, shown), same);
        now.filter(|_| possible)
    }
}

/// A description of a camera's pose.
#[derive(Clone, Copy, Debug)]
pub struct Sighting {
    /// The camera in the parent of its `_link`.
    pub pose: Transform,
    /// How far off it may be because its carrier moves, in m.
    pub slack_m: f64,
    /// The same of its direction, in rad.
    pub slack_rad: f64,
}

/// What a description says of a camera's pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
    /// It is where it is published.
    Same,
    /// It hangs like this from now on.
    Moved(Transform),
    /// It is not where the request put it, though nothing has moved it since: the renderer understands the mount otherwise, or
    /// another program was faster. Said once.
    Misread(Transform),
}

/// The pose of a camera in the parent of its `_link`.
#[derive(Clone, Debug)]
pub struct DescribedMount {
    asked: Transform,
    shown: Transform,
    other: Other<Transform>,
    /// The bottom of a vehicle is where only the renderer knows.
    at_bottom: bool,
    /// How much higher than asked for the camera is described.
    higher_m: Option<f64>,
    /// The camera was described where it was asked for.
    agrees: Option<bool>,
}

impl DescribedMount {
    /// This pose is asked for; `at_bottom`: its height is known except for a constant.
    pub fn new(asked: Transform, at_bottom: bool) -> Self {
        Self { asked, shown: asked, other: Other(None), at_bottom, higher_m: None, agrees: None }
    }

    /// What was asked for.
    pub fn asked(&self) -> Transform {
        self.asked
    }

    /// What is published.
    pub fn shown(&self) -> Transform {
        self.shown
    }

    /// Takes a description.
    pub fn described(&mut self, sighting: &Sighting) -> Seen {
        let mut pose = sighting.pose;
        if self.at_bottom {
            let above = pose.translation()[2] - self.asked.translation()[2];
            let higher = *self.higher_m.get_or_insert(above);
            pose = pose.shifted([0.0, 0.0, -higher]);
        }
        let (near_m, near_rad) =
            (SAME_PLACE_M + sighting.slack_m, SAME_DIRECTION_RAD + sighting.slack_rad);
        let same =
            |a: Transform, b: Transform| a.distance_to(&b) < near_m && a.angle_to(&b) < near_rad;
        let moved = self.other.described(pose, (self.asked, self.shown), same);
        match (moved, self.agrees) {
            (None, _) => {
                if self.other.0.is_none() {
                    self.agrees = Some(true);
                }
                Seen::Same
            }
            (Some(pose), Some(true)) => Seen::Moved(pose),
            (Some(pose), None) => {
                self.agrees = Some(false);
                Seen::Misread(pose)
            }
            (Some(_), Some(false)) => Seen::Same,
        }
    }

    /// From now on this is published.
    pub fn follow(&mut self, pose: Transform) {
        self.shown = pose;
    }
}

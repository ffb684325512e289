//! What a camera sees of boxes in space: their edges in its image, and how much of them is not hidden.
use super::reported::Entity;
use crate::frames::Transform;
use crate::msgs::sensor_msgs::msg::CameraInfo;
use crate::msgs::std_msgs::msg::Header;
use crate::msgs::vision_msgs::msg::{Detection2D, ObjectHypothesisWithPose};

/// Nearer parts of a box are not seen, in m.
const NEAR_M: f64 = 0.05;
/// Rays per axis at most to find what is hidden.
const RAYS: usize = 40;
/// A surface this much before a box is its own: depth is rounded, and bounds are not exact.
const TOLERANCE_M: f64 = 0.05;
const TOLERANCE: f64 = 0.02;
/// Count of a pixel without return.
const NO_RETURN: u16 = u16::MAX;

/// A pinhole camera without distortion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pinhole {
    /// Focal length in px, horizontal and vertical.
    pub focal: [f64; 2],
    /// Where the optical axis meets the image, in px; pixel centres are integers.
    pub centre: [f64; 2],
    /// Width and height in px.
    pub size: [usize; 2],
}

impl Pinhole {
    /// Takes K and the size; `None` for a camera that is not calibrated.
    pub fn new(info: &CameraInfo) -> Option<Self> {
        let [fx, _, cx, _, fy, cy, ..] = info.k;
        (fx > 0.0 && fy > 0.0).then_some(Self {
            focal: [fx, fy],
            centre: [cx, cy],
            size: [info.width as usize, info.height as usize],
        })
    }

    fn pixel(&self, [x, y, z]: [f64; 3]) -> [f64; 2] {
        let [fx, fy] = self.focal;
        let [cx, cy] = self.centre;
        [fx * x / z + cx, fy * y / z + cy]
    }

    /// Returns the direction of a pixel, with z 1.
    fn ray(&self, u: f64, v: f64) -> [f64; 3] {
        let [fx, fy] = self.focal;
        let [cx, cy] = self.centre;
        [(u - cx) / fx, (v - cy) / fy, 1.0]
    }
}

/// A box in space as a camera has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpaceBox {
    /// Its middle and axes in the optical frame of the camera.
    pub pose: Transform,
    /// Its sides in m.
    pub size: [f64; 3],
}

/// Edges in an image, in px.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImageBox {
    /// Least column.
    pub left: f64,
    /// Least row.
    pub top: f64,
    /// Largest column.
    pub right: f64,
    /// Largest row.
    pub bottom: f64,
}

/// Depth along the optical axis, from the same place in the same direction.
#[derive(Clone, Copy, Debug)]
pub struct DepthImage<'a> {
    /// The camera that measured it.
    pub camera: &'a Pinhole,
    /// Little-endian u16 per pixel.
    pub counts: &'a [u8],
    /// Metres per count.
    pub scale: f64,
}

impl SpaceBox {
    fn corners(&self) -> [[f64; 3]; 8] {
        std::array::from_fn(|i| {
            let half = |axis: usize| {
                let half = self.size[axis] / 2.0;
                if i >> axis & 1 == 0 { -half } else { half }
            };
            self.pose.apply([half(0), half(1), half(2)])
        })
    }

    /// Returns its edges in the image, cut at the borders; `None` if it is outside or behind the camera.
    pub fn project(&self, camera: &Pinhole) -> Option<ImageBox> {
        let corners = self.corners();
        let mut ahead: Vec<_> = corners.iter().filter(|p| p[2] >= NEAR_M).copied().collect();
        // Where edges of the box begin to be in front of the camera.
        for (a, from) in corners.iter().enumerate() {
            for to in [1, 2, 4].map(|bit| corners[a ^ bit]) {
                if from[2] >= NEAR_M && to[2] < NEAR_M {
                    let share = (from[2] - NEAR_M) / (from[2] - to[2]);
                    ahead.push(std::array::from_fn(|i| from[i] + (to[i] - from[i]) * share));
                }
            }
        }
        let pixels = || ahead.iter().map(|point| camera.pixel(*point));
        let least = |axis: usize| pixels().map(|p| p[axis]).fold(f64::INFINITY, f64::min);
        let most = |axis: usize| pixels().map(|p| p[axis]).fold(f64::NEG_INFINITY, f64::max);
        let [last_u, last_v] = camera.size.map(|n| n as f64 - 1.0);
        let cut = ImageBox {
            left: least(0).max(0.0),
            top: least(1).max(0.0),
            right: most(0).min(last_u),
            bottom: most(1).min(last_v),
        };
        (cut.left < cut.right && cut.top < cut.bottom).then_some(cut)
    }

    /// Returns the share of the box in the image that nothing hides, 0 to 1; `None` if no pixel of the image meets it.
    pub fn visible(&self, depth: &DepthImage<'_>) -> Option<f64> {
        let edges = self.project(depth.camera)?;
        let inverse = self.pose.inverse();
        let origin = inverse.translation();
        let [width, _] = depth.camera.size;
        let steps = |from: f64, to: f64| {
            let (from, to) = (from.ceil() as usize, to.floor() as usize);
            (from..=to).step_by(((to.saturating_sub(from)) / RAYS).max(1))
        };
        let (mut met, mut seen) = (0_u32, 0_u32);
        for v in steps(edges.top, edges.bottom) {
            for u in steps(edges.left, edges.right) {
                let direction = inverse.rotate(depth.camera.ray(u as f64, v as f64));
                let Some(enters) = enters(origin, direction, self.size) else {
                    continue;
                };
                let at = 2 * (v * width + u);
                let Some(&[low, high]) = depth.counts.get(at..at + 2).and_then(|c| c.first_chunk())
                else {
                    continue;
                };
                let count = u16::from_le_bytes([low, high]);
                let free = enters * (1.0 - TOLERANCE) - TOLERANCE_M;
                met += 1;
                let hidden = count != NO_RETURN && f64::from(count) * depth.scale < free;
                seen += u32::from(!hidden);
            }
        }
        (met > 0).then(|| f64::from(seen) / f64::from(met))
    }
}

/// Returns how far along a ray a box about the origin begins; `None` if the ray misses it.
fn enters(origin: [f64; 3], direction: [f64; 3], size: [f64; 3]) -> Option<f64> {
    let (mut first, mut last) = (0.0_f64, f64::INFINITY);
    for axis in 0..3 {
        let half = size[axis] / 2.0;
        let [a, b] = [-half, half].map(|side| (side - origin[axis]) / direction[axis]);
        if a.is_nan() || b.is_nan() {
            continue; // along the side
        }
        first = first.max(a.min(b));
        last = last.min(a.max(b));
    }
    (first <= last).then_some(first)
}

/// Returns a box in an image as a message.
pub fn detection_2d(entity: &Entity, edges: &ImageBox, score: f64, header: &Header) -> Detection2D {
    let mut result = ObjectHypothesisWithPose::default();
    result.hypothesis.class_id = entity.to_string();
    result.hypothesis.score = score;
    let mut detection = Detection2D {
        header: header.clone(),
        results: vec![result],
        id: entity.to_string(),
        ..Detection2D::default()
    };
    detection.bbox.center.position.x = (edges.left + edges.right) / 2.0;
    detection.bbox.center.position.y = (edges.top + edges.bottom) / 2.0;
    detection.bbox.size_x = edges.right - edges.left;
    detection.bbox.size_y = edges.bottom - edges.top;
    detection
}

//! Projects 3D bounding boxes into the image of a camera, and estimates how much of each box is visible.
use super::descriptions::ReportedEntity;
use crate::msgs::vision_msgs::msg::{Detection2D, ObjectHypothesisWithPose};
use crate::{frames::Transform, msgs::sensor_msgs::msg::CameraInfo, msgs::std_msgs::msg::Header};

/// Distance of the near clipping plane in m.
const NEAR_M: f64 = 0.05;
/// Minimum number of rays per axis to estimate the visible share; at most doubled, and fewer in a box of fewer pixels.
const MIN_RAYS: usize = 40;
/// A surface up to this far in front of a box belongs to the box: depth is rounded, and bounds are not exact.
const TOLERANCE_M: f64 = 0.05;
const RELATIVE_TOLERANCE: f64 = 0.02;
/// Depth value of a pixel without return.
const NO_RETURN: u16 = u16::MAX;

/// A pinhole camera without distortion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PinholeCamera {
    /// Focal length in px, horizontal and vertical.
    pub focal: [f64; 2],
    /// Principal point in px; pixel centres are integers.
    pub centre: [f64; 2],
    /// Width and height in px.
    pub size: [usize; 2],
}

impl PinholeCamera {
    /// Reads K and the image size; `None` for a camera without calibration.
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

    /// Returns the direction of a pixel, scaled to z = 1.
    fn ray(&self, u: f64, v: f64) -> [f64; 3] {
        let [fx, fy] = self.focal;
        let [cx, cy] = self.centre;
        [(u - cx) / fx, (v - cy) / fy, 1.0]
    }
}

/// A bounding box in the optical frame of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundingBox3d {
    /// Pose of its centre.
    pub pose: Transform,
    /// Lengths of its sides in m.
    pub size: [f64; 3],
}

/// A bounding box in an image, in px.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundingBox2d {
    /// First column.
    pub left: f64,
    /// First row.
    pub top: f64,
    /// Last column.
    pub right: f64,
    /// Last row.
    pub bottom: f64,
}

/// A depth image from the same pose: depth along the optical axis.
#[derive(Clone, Copy, Debug)]
pub struct DepthImage<'a> {
    /// Its camera.
    pub camera: &'a PinholeCamera,
    /// Depth as one little-endian u16 per pixel.
    pub counts: &'a [u8],
    /// Metres per count.
    pub scale: f64,
}

impl BoundingBox3d {
    fn corners(&self) -> [[f64; 3]; 8] {
        std::array::from_fn(|i| {
            let half = |axis: usize| {
                let half = self.size[axis] / 2.0;
                if i >> axis & 1 == 0 { -half } else { half }
            };
            self.pose.apply([half(0), half(1), half(2)])
        })
    }

    /// Projects it into the image and clips it at the borders; `None` if it is outside the image or behind the camera.
    pub fn project(&self, camera: &PinholeCamera) -> Option<BoundingBox2d> {
        let corners = self.corners();
        let mut in_front: Vec<_> = corners.iter().filter(|p| p[2] >= NEAR_M).copied().collect();
        // Edges that cross the near plane add their intersection with it.
        for (a, from) in corners.iter().enumerate() {
            for to in [1, 2, 4].map(|bit| corners[a ^ bit]) {
                if from[2] >= NEAR_M && to[2] < NEAR_M {
                    let fraction = (from[2] - NEAR_M) / (from[2] - to[2]);
                    in_front.push(std::array::from_fn(|i| from[i] + (to[i] - from[i]) * fraction));
                }
            }
        }
        let pixels = || in_front.iter().map(|point| camera.pixel(*point));
        let least = |axis: usize| pixels().map(|p| p[axis]).fold(f64::INFINITY, f64::min);
        let most = |axis: usize| pixels().map(|p| p[axis]).fold(f64::NEG_INFINITY, f64::max);
        let [last_u, last_v] = camera.size.map(|n| n as f64 - 1.0);
        let clipped = BoundingBox2d {
            left: least(0).max(0.0),
            top: least(1).max(0.0),
            right: most(0).min(last_u),
            bottom: most(1).min(last_v),
        };
        (clipped.left < clipped.right && clipped.top < clipped.bottom).then_some(clipped)
    }

    /// Returns the visible share of its area in the image, 0 to 1; `None` if no pixel of the image hits it.
    pub fn visible_share(&self, depth: &DepthImage<'_>) -> Option<f64> {
        let edges = self.project(depth.camera)?;
        let inverse = self.pose.inverse();
        let origin = inverse.translation();
        let [width, _] = depth.camera.size;
        let steps = |from: f64, to: f64| {
            let (from, to) = (from.ceil() as usize, to.floor() as usize);
            (from..=to).step_by(((to.saturating_sub(from)) / MIN_RAYS).max(1))
        };
        let (mut hits, mut visible) = (0_u32, 0_u32);
        for v in steps(edges.top, edges.bottom) {
            for u in steps(edges.left, edges.right) {
                let direction = inverse.rotate(depth.camera.ray(u as f64, v as f64));
                let Some(entry) = ray_entry(origin, direction, self.size) else { continue };
                let at = 2 * (v * width + u);
                let Some(&[low, high]) = depth.counts.get(at..at + 2).and_then(|c| c.first_chunk())
                else {
                    continue;
                };
                let count = u16::from_le_bytes([low, high]);
                let front = entry * (1.0 - RELATIVE_TOLERANCE) - TOLERANCE_M;
                hits += 1;
                let is_hidden = count != NO_RETURN && f64::from(count) * depth.scale < front;
                visible += u32::from(!is_hidden);
            }
        }
        (hits > 0).then(|| f64::from(visible) / f64::from(hits))
    }
}

/// Returns the multiple of `direction` at which a ray enters a box centred at the origin; `None` if it misses the box. For a
/// direction with z = 1 in the optical frame, this is the depth.
fn ray_entry(origin: [f64; 3], direction: [f64; 3], size: [f64; 3]) -> Option<f64> {
    let (mut first, mut last) = (0.0_f64, f64::INFINITY);
    for axis in 0..3 {
        let half = size[axis] / 2.0;
        let [a, b] = [-half, half].map(|side| (side - origin[axis]) / direction[axis]);
        if a.is_nan() || b.is_nan() {
            continue; // the ray runs along this side
        }
        first = first.max(a.min(b));
        last = last.min(a.max(b));
    }
    (first <= last).then_some(first)
}

/// Converts a bounding box in an image to a message.
pub fn detection_2d(
    entity: &ReportedEntity,
    edges: &BoundingBox2d,
    score: f64,
    header: &Header,
) -> Detection2D {
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

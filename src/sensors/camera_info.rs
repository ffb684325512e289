//! Calibration of the simulator's ideal cameras.
use super::{Calibration, Size, spec::Topics};
use crate::{
    msgs::{builtin_interfaces::msg::Time, sensor_msgs::msg::CameraInfo, std_msgs::msg::Header},
    ros::{Publisher, RosError},
};
use std::sync::Arc;

/// Projection of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lens {
    /// Perspective; model `plumb_bob` without distortion.
    Pinhole,
    /// Distance from the centre proportional to the angle; model `equidistant` without distortion.
    Fisheye {
        /// Focal length in px/rad, as a fraction of width / field of view.
        factor: f64,
    },
}

/// Returns the calibration of an image of `size` with the horizontal field of view `fov_deg`.
///
/// The optical axis meets the middle of the image. Pixel centres have integer coordinates (OpenCV, image_geometry), so
/// the middle is at `(W-1)/2, (H-1)/2`, and the field of view of a pinhole camera spans the outer pixel edges, `W` px. Pixels
/// are square. An impossible field of view gives K = 0, which `sensor_msgs/CameraInfo` defines as uncalibrated.
pub fn camera_info(lens: Lens, size: Size, fov_deg: f32, header: Header) -> CameraInfo {
    let (w, h) = (size.width as f64, size.height as f64);
    let fov = f64::from(fov_deg).to_radians();
    let is_possible = match lens {
        Lens::Pinhole => fov > 0.0 && fov < std::f64::consts::PI,
        Lens::Fisheye { .. } => fov > 0.0 && fov <= std::f64::consts::TAU,
    };
    let f = match lens {
        Lens::Pinhole => w / (2.0 * (fov / 2.0).tan()),
        Lens::Fisheye { factor } => factor * w / fov,
    };
    let (cx, cy) = ((w - 1.0) / 2.0, (h - 1.0) / 2.0);
    let (k, p) = if is_possible {
        (
            [f, 0.0, cx, 0.0, f, cy, 0.0, 0.0, 1.0],
            [f, 0.0, cx, 0.0, 0.0, f, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
        )
    } else {
        ([0.0; 9], [0.0; 12])
    };
    let (distortion_model, coefficients) = match lens {
        Lens::Pinhole => ("plumb_bob", 5),
        Lens::Fisheye { .. } => ("equidistant", 4),
    };
    CameraInfo {
        header,
        height: size.height as u32,
        width: size.width as u32,
        distortion_model: distortion_model.to_owned(),
        d: vec![0.0; coefficients],
        k,
        r: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p,
        ..CameraInfo::default()
    }
}

/// Properties of a camera's messages that parameters change at run time.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraView {
    /// Horizontal field of view in degrees.
    pub fov_deg: f32,
    /// [`Lens::Fisheye::factor`] of a fisheye camera.
    pub fisheye_factor: f64,
    /// The user's own calibration, instead of the computed one.
    pub calibration: Option<Arc<Calibration>>,
    /// Baseline of the right camera of a stereo pair, in m; 0 for all other cameras.
    pub baseline_m: f64,
    /// Optical frame of the camera, or of the left or colour camera of its pair.
    pub frame_id: String,
}

/// Publishes the calibration with each image; rebuilds the message only if the size or the view changes.
pub(super) struct InfoTopic {
    publisher: Publisher<CameraInfo>,
    message: CameraInfo,
    lens: Lens,
    fov_deg: f32,
    baseline_m: f64,
    calibration: Option<Arc<Calibration>>,
}

impl InfoTopic {
    pub(super) const SUFFIX: &'static str = "camera_info";

    pub(super) fn open(topics: &Topics<'_>, lens: Lens) -> Result<Self, RosError> {
        let config = topics.context.config;
        Ok(Self {
            publisher: topics.publisher(Self::SUFFIX)?,
            message: camera_info(lens, config.into(), config.fov_deg, topics.header(Self::SUFFIX)),
            lens,
            fov_deg: config.fov_deg,
            baseline_m: 0.0,
            calibration: None,
        })
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    /// Publishes for an image with this stamp and size, if subscribed to.
    pub(super) fn publish(&mut self, stamp: &Time, size: Size) -> Result<(), RosError> {
        if !self.is_wanted() {
            return Ok(());
        }
        if (self.message.width as usize, self.message.height as usize) != (size.width, size.height)
        {
            self.rebuild(size);
        }
        self.message.header.stamp = stamp.clone();
        self.publisher.publish(&self.message).map(drop) // the middleware counts samples that it drops
    }

    pub(super) fn set_view(&mut self, view: &CameraView) {
        self.fov_deg = view.fov_deg;
        if let Lens::Fisheye { factor } = &mut self.lens {
            *factor = view.fisheye_factor;
        }
        self.baseline_m = view.baseline_m;
        self.calibration.clone_from(&view.calibration);
        self.message.header.frame_id.clone_from(&view.frame_id);
        self.rebuild(Size {
            width: self.message.width as usize,
            height: self.message.height as usize,
        });
    }

    fn rebuild(&mut self, size: Size) {
        let header = std::mem::take(&mut self.message.header);
        let calibration = self.calibration.as_ref();
        if let Some(fitting) = calibration.filter(|c| c.misfit(size).is_none()) {
            // The P of the file contains the baseline of a stereo pair.
            self.message = fitting.message(header);
            return;
        }
        self.message = camera_info(self.lens, size, self.fov_deg, header);
        if self.baseline_m > 0.0 {
            // P projects points of the left camera's frame (sensor_msgs/CameraInfo).
            self.message.p[3] = -self.message.p[0] * self.baseline_m;
        }
    }
}

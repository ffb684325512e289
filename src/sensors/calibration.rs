//! A user's own calibration of a camera, in the YAML of `camera_calibration_parsers`, which ROS drivers of cameras read.
use super::Size;
use crate::{msgs::sensor_msgs::msg::CameraInfo, msgs::std_msgs::msg::Header};
use serde::{Deserialize, Serialize};

/// Distortion models of `sensor_msgs/distortion_models.hpp`, and how many coefficients each has.
const MODELS: [(&str, &[usize]); 3] =
    [("plumb_bob", &[4, 5]), ("rational_polynomial", &[8, 12, 14]), ("equidistant", &[4])];

/// A calibration as a message with an empty header.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration(CameraInfo);

#[derive(Deserialize, Serialize)]
struct CalibrationFile {
    image_width: u32,
    image_height: u32,
    #[serde(default)]
    camera_name: String,
    camera_matrix: Matrix,
    distortion_model: String,
    distortion_coefficients: Matrix,
    rectification_matrix: Matrix,
    projection_matrix: Matrix,
}

#[derive(Deserialize, Serialize)]
struct Matrix {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl Matrix {
    fn new(rows: usize, data: &[f64]) -> Self {
        Self { rows, cols: data.len() / rows, data: data.to_vec() }
    }

    fn numbers<const N: usize>(&self, name: &str, problems: &mut Vec<String>) -> [f64; N] {
        self.data.as_slice().try_into().unwrap_or_else(|_| {
            problems.push(format!("{name} must have {N} numbers, has {}", self.data.len()));
            [0.0; N]
        })
    }
}

impl Calibration {
    /// Parses the file.
    ///
    /// # Errors
    /// All problems of the file.
    pub fn from_yaml(text: &str) -> Result<Self, Vec<String>> {
        let file: CalibrationFile = serde_saphyr::from_str(text).map_err(|error| {
            let why = error.to_string();
            vec![format!(
                "is not a calibration of a camera: {}",
                why.lines().next().unwrap_or_default()
            )]
        })?;
        let mut problems = Vec::new();
        let calibration = CameraInfo {
            width: file.image_width,
            height: file.image_height,
            k: file.camera_matrix.numbers("camera_matrix", &mut problems),
            r: file.rectification_matrix.numbers("rectification_matrix", &mut problems),
            p: file.projection_matrix.numbers("projection_matrix", &mut problems),
            d: file.distortion_coefficients.data,
            distortion_model: file.distortion_model,
            ..CameraInfo::default()
        };
        Self(calibration).validate(problems)
    }

    /// Reads the request of `set_camera_info`, which calibration programs send.
    ///
    /// # Errors
    /// All problems of the calibration.
    pub fn from_info(info: &CameraInfo) -> Result<Self, Vec<String>> {
        let calibration = CameraInfo {
            width: info.width,
            height: info.height,
            distortion_model: info.distortion_model.clone(),
            d: info.d.clone(),
            k: info.k,
            r: info.r,
            p: info.p,
            ..CameraInfo::default()
        };
        Self(calibration).validate(Vec::new())
    }

    /// Checks the values. Fails with `problems` and those of the values.
    fn validate(self, mut problems: Vec<String>) -> Result<Self, Vec<String>> {
        let CameraInfo { distortion_model: model, d, k, r, p, .. } = &self.0;
        match MODELS.iter().find(|(name, _)| name == model) {
            None => problems.push(format!(
                "distortion_model must be one of {}, is {model:?}",
                MODELS.map(|(name, _)| name).join(", ")
            )),
            Some((name, counts)) if !counts.contains(&d.len()) => {
                problems.push(format!("{name} must have {counts:?} coefficients, has {}", d.len()))
            }
            Some(_) => {}
        }
        if !(k[0] > 0.0 && k[4] > 0.0) {
            problems.push("the focal lengths in camera_matrix must be above 0".to_owned());
        }
        if !d.iter().chain(k).chain(r).chain(p).all(|number| number.is_finite()) {
            problems.push("not all numbers are finite".to_owned());
        }
        if problems.is_empty() { Ok(self) } else { Err(problems) }
    }

    /// Returns the file for a camera of this name.
    ///
    /// # Errors
    /// An error of the YAML writer.
    pub fn to_yaml(&self, camera_name: &str) -> Result<String, String> {
        let file = CalibrationFile {
            image_width: self.0.width,
            image_height: self.0.height,
            camera_name: camera_name.to_owned(),
            camera_matrix: Matrix::new(3, &self.0.k),
            distortion_model: self.0.distortion_model.clone(),
            distortion_coefficients: Matrix::new(1, &self.0.d),
            rectification_matrix: Matrix::new(3, &self.0.r),
            projection_matrix: Matrix::new(3, &self.0.p),
        };
        serde_saphyr::to_string(&file).map_err(|error| error.to_string())
    }

    /// Returns why the calibration does not fit images of this size; `None` if it does.
    pub fn misfit(&self, size: Size) -> Option<String> {
        let (width, height) = (self.0.width as usize, self.0.height as usize);
        (Size { width, height } != size).then(|| {
            format!(
                "is for images of {width} x {height}, the sensor has {} x {}",
                size.width, size.height
            )
        })
    }

    /// Returns the message.
    pub fn message(&self, header: Header) -> CameraInfo {
        CameraInfo { header, ..self.0.clone() }
    }
}

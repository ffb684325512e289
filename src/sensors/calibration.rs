//! A user's own calibration of a camera, in the YAML of `camera_calibration_parsers`, which every ROS camera driver reads.
use super::Size;
use crate::msgs::sensor_msgs::msg::CameraInfo;
use crate::msgs::std_msgs::msg::Header;
use serde::{Deserialize, Serialize};

/// Distortion models of `sensor_msgs/distortion_models.hpp`, and how many coefficients each has.
const MODELS: [(&str, &[usize]); 3] =
    [("plumb_bob", &[4, 5]), ("rational_polynomial", &[8, 12, 14]), ("equidistant", &[4])];

/// What a calibration measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Size of the images that it is of.
    pub size: Size,
    model: String,
    d: Vec<f64>,
    k: [f64; 9],
    r: [f64; 9],
    p: [f64; 12],
}

/// The file.
#[derive(Deserialize, Serialize)]
struct File {
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

    fn of<const N: usize>(&self, name: &str, problems: &mut Vec<String>) -> [f64; N] {
        self.data.as_slice().try_into().unwrap_or_else(|_| {
            problems.push(format!("{name} must have {N} numbers, has {}", self.data.len()));
            [0.0; N]
        })
    }
}

impl Calibration {
    /// Reads the file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn from_yaml(text: &str) -> Result<Self, Vec<String>> {
        let file: File = serde_saphyr::from_str(text).map_err(|error| {
            let why = error.to_string();
            vec![format!(
                "is no calibration of a camera: {}",
                why.lines().next().unwrap_or_default()
            )]
        })?;
        let mut problems = Vec::new();
        let calibration = Self {
            size: Size { width: file.image_width as usize, height: file.image_height as usize },
            k: file.camera_matrix.of("camera_matrix", &mut problems),
            r: file.rectification_matrix.of("rectification_matrix", &mut problems),
            p: file.projection_matrix.of("projection_matrix", &mut problems),
            d: file.distortion_coefficients.data,
            model: file.distortion_model,
        };
        calibration.checked(problems)
    }

    /// Takes what a calibration program sends to `set_camera_info`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn from_info(info: &CameraInfo) -> Result<Self, Vec<String>> {
        let calibration = Self {
            size: Size { width: info.width as usize, height: info.height as usize },
            model: info.distortion_model.clone(),
            d: info.d.clone(),
            k: info.k,
            r: info.r,
            p: info.p,
        };
        calibration.checked(Vec::new())
    }

    /// Adds what is wrong with it to the problems so far.
    fn checked(self, mut problems: Vec<String>) -> Result<Self, Vec<String>> {
        let counts = MODELS.iter().find(|(name, _)| *name == self.model);
        match counts {
            None => problems.push(format!(
                "distortion_model must be one of {}, is {:?}",
                MODELS.map(|(name, _)| name).join(", "),
                self.model
            )),
            Some((name, counts)) if !counts.contains(&self.d.len()) => problems
                .push(format!("{name} has {counts:?} coefficients, here are {}", self.d.len())),
            Some(_) => {}
        }
        if !(self.k[0] > 0.0 && self.k[4] > 0.0) {
            problems.push("the focal lengths in camera_matrix must be above 0".to_owned());
        }
        let numbers = self.d.iter().chain(&self.k).chain(&self.r).chain(&self.p);
        if !numbers.into_iter().all(|number| number.is_finite()) {
            problems.push("not all numbers are finite".to_owned());
        }
        match problems.is_empty() {
            true => Ok(self),
            false => Err(problems),
        }
    }

    /// The file, for a camera of this name.
    ///
    /// # Errors
    /// Of the writer.
    pub fn to_yaml(&self, camera_name: &str) -> Result<String, String> {
        let file = File {
            image_width: self.size.width as u32,
            image_height: self.size.height as u32,
            camera_name: camera_name.to_owned(),
            camera_matrix: Matrix::new(3, &self.k),
            distortion_model: self.model.clone(),
            distortion_coefficients: Matrix::new(1, &self.d),
            rectification_matrix: Matrix::new(3, &self.r),
            projection_matrix: Matrix::new(3, &self.p),
        };
        serde_saphyr::to_string(&file).map_err(|error| error.to_string())
    }

    /// Why it is not one of images of this size.
    pub fn misfit(&self, size: Size) -> Option<String> {
        (self.size != size).then(|| {
            format!(
                "is of images of {} x {}, the sensor has {} x {}",
                self.size.width, self.size.height, size.width, size.height
            )
        })
    }

    /// The message.
    pub fn message(&self, header: Header) -> CameraInfo {
        CameraInfo {
            header,
            height: self.size.height as u32,
            width: self.size.width as u32,
            distortion_model: self.model.clone(),
            d: self.d.clone(),
            k: self.k,
            r: self.r,
            p: self.p,
            ..CameraInfo::default()
        }
    }
}

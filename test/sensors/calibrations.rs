//! Users' own calibrations, in the files of `camera_calibration_parsers`.
use super::cameras::pattern;
use super::rig::{Rig, config};
use rfly_bridge::msgs::sensor_msgs::msg::CameraInfo;
use rfly_bridge::msgs::std_msgs::msg::Header;
use rfly_bridge::sensors::{Calibration, CameraView, Options, Size};
use std::sync::Arc;

/// As `camera_calibration` writes it.
const FILE: &str = "\
image_width: 48
image_height: 32
camera_name: narrow_stereo
camera_matrix:
  rows: 3
  cols: 3
  data: [ 41.5,  0.  , 23.1,
           0.  , 41.7, 15.9,
           0.  ,  0.  ,  1. ]
distortion_model: plumb_bob
distortion_coefficients:
  rows: 1
  cols: 5
  data: [-0.3, 0.1, 0.001, -0.002, 0]
rectification_matrix:
  rows: 3
  cols: 3
  data: [1, 0, 0, 0, 1, 0, 0, 0, 1]
projection_matrix:
  rows: 3
  cols: 4
  data: [40., 0., 23., 0., 0., 40., 16., 0., 0., 0., 1., 0.]
";

fn problems(text: &str) -> String {
    Calibration::from_yaml(text).expect_err("a problem").join("; ")
}

#[test]
fn the_file_is_read_and_written_again() {
    let read = Calibration::from_yaml(FILE).expect("a calibration");
    let message = read.message(Header::default());
    assert_eq!((message.width, message.height), (48, 32));
    assert_eq!(message.distortion_model, "plumb_bob");
    assert_eq!(message.d, [-0.3, 0.1, 0.001, -0.002, 0.0]);
    assert_eq!((message.k[0], message.k[2], message.k[4]), (41.5, 23.1, 41.7));
    assert_eq!((message.p[0], message.p[6]), (40.0, 16.0));
    assert_eq!(Calibration::from_info(&message), Ok(read.clone()));
    let written = read.to_yaml("sensor3").expect("a file");
    assert!(written.contains("camera_name: sensor3"), "{written}");
    assert_eq!(Calibration::from_yaml(&written), Ok(read));
}

#[test]
fn everything_that_is_wrong_is_said() {
    assert!(problems("image_width: 48").contains("is not a calibration of a camera"));
    let wrong = FILE
        .replace("plumb_bob", "fov")
        .replace("41.5", ".nan")
        .replace("data: [1, 0, 0, 0, 1,", "data: [1, 0, 0,");
    let said = problems(&wrong);
    for part in [
        "rectification_matrix must have 9 numbers, has 7",
        "distortion_model must be one of plumb_bob, rational_polynomial, equidistant",
        "focal lengths",
        "finite",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let few = FILE.replace("plumb_bob", "rational_polynomial");
    assert!(
        problems(&few).contains("rational_polynomial must have [8, 12, 14] coefficients, has 5")
    );
    let read = Calibration::from_yaml(FILE).expect("a calibration");
    let size = Size { width: 64, height: 48 };
    let misfit = read.misfit(size).expect("another size");
    assert_eq!(misfit, "is for images of 48 x 32, the sensor has 64 x 48");
}

#[test]
fn it_wins_over_the_computed_one_while_its_size_is_that_of_the_image() {
    let mut rig = Rig::open(&config(3, 48, 32, 2, &[]), Options::default());
    let view = |calibration| CameraView {
        fov_deg: 90.0,
        fisheye_factor: 1.0,
        calibration,
        baseline_m: 0.0,
        frame_id: "sensor3_optical_frame".to_owned(),
    };
    let own = Calibration::from_yaml(FILE).expect("a calibration");
    for (calibration, focal) in [(Some(Arc::new(own)), 41.5), (None, 24.0)] {
        rig.sensor.set_view(&view(calibration));
        rig.recorder.clear();
        rig.accept(&pattern(48 * 32)).unwrap();
        let info: CameraInfo = rig.only("camera_info");
        assert!((info.k[0] - focal).abs() < 1e-9, "{:?}", info.k);
        assert_eq!(info.header.frame_id, "sensor3_optical_frame");
    }
}

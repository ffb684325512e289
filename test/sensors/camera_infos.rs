//! Calibration beside images, against the geometry it stands for.
use super::{
    cameras::{pattern, rgb_png},
    rig::{Rig, config},
};
use rfly_bridge::{
    msgs::{
        sensor_msgs::msg::{CameraInfo, Image},
        std_msgs::msg::Header,
    },
    sensors::{CameraView, Lens, Options, Size, camera_info},
    wire::FISHEYE_FACTOR,
};

#[test]
fn the_outermost_pixel_edges_are_seen_under_half_the_field_of_view() {
    for (fov, width, height) in
        [(90.0f32, 640usize, 480usize), (60.0, 1280, 720), (120.0, 1920, 1080), (89.5, 641, 3)]
    {
        let info = camera_info(Lens::Pinhole, Size { width, height }, fov, Header::default());
        let [fx, _, cx, _, fy, cy, ..] = info.k;
        let half = f64::from(fov).to_radians() / 2.0;
        for edge in [-0.5, width as f64 - 0.5] {
            assert!((((edge - cx) / fx).atan().abs() - half).abs() < 1e-12, "fov {fov}");
        }
        assert_eq!(fx, fy);
        assert_eq!((cx, cy), ((width as f64 - 1.0) / 2.0, (height as f64 - 1.0) / 2.0));
        assert_eq!(info.k, [fx, 0.0, cx, 0.0, fx, cy, 0.0, 0.0, 1.0]);
        assert_eq!(info.p, [fx, 0.0, cx, 0.0, 0.0, fx, cy, 0.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(info.r, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!((info.distortion_model.as_str(), info.d), ("plumb_bob", vec![0.0; 5]));
        assert_eq!((info.width as usize, info.height as usize), (width, height));
    }
}

/// Two calibrations of the real simulator by the authors of RflyPano (2026), with a checkerboard: TypeID 8, 640 x 640, CameraFOV
/// 200, cube edge 512. Scaramuzza's model: a point at r px from the centre is atan2(r, a0 + a2 r^2 + a3 r^3 + a4 r^4) off the axis.
const CALIBRATIONS: [[f64; 4]; 2] =
    [[167.6389, -0.0020, 4.3925e-7, -6.7036e-9], [167.7745, -0.0020, 5.9066e-7, -7.6388e-9]];

#[test]
fn a_fisheye_is_that_of_the_real_simulator() {
    let size = Size { width: 640, height: 640 };
    let lens = Lens::Fisheye { factor: FISHEYE_FACTOR };
    let info = camera_info(lens, size, 200.0, Header::default());
    for [a0, a2, a3, a4] in CALIBRATIONS {
        for r in (0..=220).map(f64::from) {
            let z = a0 + a2 * r.powi(2) + a3 * r.powi(3) + a4 * r.powi(4);
            let ours = info.k[0] * r.atan2(z);
            assert!((ours - r).abs() < 3.0, "{ours} px instead of {r}");
        }
    }
    // MATLAB counts pixels from 1, and the centres that it found are within a pixel of each other.
    assert!((info.k[2] + 1.0 - 320.4).abs() < 1.0 && (info.k[5] + 1.0 - 320.8).abs() < 1.0);
    assert_eq!((info.distortion_model.as_str(), info.d.len()), ("equidistant", 4));
}

#[test]
fn the_focal_length_of_a_fisheye_follows_its_factor() {
    let size = Size { width: 800, height: 800 };
    let lens = Lens::Fisheye { factor: 1.0 };
    let info = camera_info(lens, size, 220.0, Header::default());
    // r = f * theta: the outer edge, 400 px from the centre, is 110 degrees off the axis.
    assert!((info.k[0] * 110.0f64.to_radians() - 400.0).abs() < 1e-9);
}

#[test]
fn an_impossible_field_of_view_is_published_as_uncalibrated() {
    for fov in [0.0, 180.0, 270.0, -5.0, f32::NAN] {
        let info = camera_info(Lens::Pinhole, Size { width: 4, height: 4 }, fov, Header::default());
        assert_eq!((info.k, info.p), ([0.0; 9], [0.0; 12]), "fov {fov}");
    }
}

/// Pixel of a point with P, as `sensor_msgs/CameraInfo` defines it.
fn pixel(p: [f64; 12], [x, y, z]: [f64; 3]) -> [f64; 2] {
    let row = |i: usize| p[i] * x + p[i + 1] * y + p[i + 2] * z + p[i + 3];
    [row(0) / row(8), row(4) / row(8)]
}

#[test]
fn the_right_camera_projects_points_of_the_left_ones_frame() {
    let mut rig = Rig::open(&config(3, 64, 48, 2, &[]), Options::default());
    let mut seen = |baseline_m: f64, frame_id: &str| {
        rig.recorder.clear();
        rig.sensor.set_view(&CameraView {
            fov_deg: 90.0,
            fisheye_factor: 1.0,
            calibration: None,
            baseline_m,
            frame_id: frame_id.to_owned(),
        });
        rig.accept(&pattern(64 * 48)).unwrap();
        let image: Image = rig.only("img_gray");
        let info: CameraInfo = rig.only("camera_info");
        assert_eq!(info.header, image.header);
        assert_eq!(info.header.frame_id, frame_id);
        info
    };
    let left = seen(0.0, "left_optical_frame");
    let right = seen(0.2, "left_optical_frame");
    assert!((right.p[3] + 32.0 * 0.2).abs() < 1e-9);
    assert_eq!((right.k, right.d.len()), (left.k, 5));
    for point in [[0.0, 0.0, 1.0], [1.5, -0.5, 4.0]] {
        // The same point in the frame of the right camera, through a lens of 45 degrees at 32 px.
        let [x, y, z] = point;
        let wanted = [31.5 + 32.0 * (x - 0.2) / z, 23.5 + 32.0 * y / z];
        let found = pixel(right.p, point);
        assert!((0..2).all(|i| (found[i] - wanted[i]).abs() < 1e-9), "{found:?}");
        let disparity = pixel(left.p, point)[0] - found[0];
        assert!((disparity - 32.0 * 0.2 / z).abs() < 1e-9);
    }
    assert_eq!(seen(0.0, "sensor3_optical_frame").p, left.p);
}

#[test]
fn the_calibration_follows_the_field_of_view_and_the_size_of_the_file() {
    let options = Options { larger: true, ..Options::default() };
    let mut rig = Rig::open(&config(1, 48, 32, 1, &[]), options);
    let k = |rig: &Rig| rig.published::<CameraInfo>("camera_info").pop().unwrap();
    rig.accept(&rgb_png(48, 32, &pattern(48 * 32 * 3))).unwrap();
    assert!((k(&rig).k[0] - 24.0).abs() < 1e-9);
    rig.sensor.set_view(&CameraView {
        fov_deg: 60.0,
        fisheye_factor: 1.0,
        calibration: None,
        baseline_m: 0.0,
        frame_id: "sensor3_optical_frame".to_owned(),
    });
    rig.accept(&rgb_png(48, 32, &pattern(48 * 32 * 3))).unwrap();
    assert!((k(&rig).k[0] - 24.0 / 30.0f64.to_radians().tan()).abs() < 1e-9);
    let larger = rgb_png(96, 64, &pattern(96 * 64 * 3));
    assert!((0..2).all(|_| rig.accept(&larger).is_err()));
    rig.accept(&larger).unwrap();
    let info = k(&rig);
    assert_eq!(
        (info.width, info.height, info.header.frame_id.as_str()),
        (96, 64, "sensor3_optical_frame")
    );
    assert!((info.k[0] - 48.0 / 30.0f64.to_radians().tan()).abs() < 1e-9);
}

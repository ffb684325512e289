//! Calibration beside images, against the geometry it stands for.
use super::{
    cameras::{pattern, rgb_png},
    rig::{Rig, config},
};
use rfly_bridge::{
    msgs::{sensor_msgs::msg::CameraInfo, std_msgs::msg::Header},
    sensors::{Lens, Options, Size, View, camera_info},
};

#[test]
fn the_outermost_pixel_edges_are_seen_under_half_the_field_of_view() {
    for (fov, width, height) in [
        (90.0f32, 640usize, 480usize),
        (60.0, 1280, 720),
        (120.0, 1920, 1080),
        (89.5, 641, 3),
    ] {
        let info = camera_info(
            Lens::Pinhole,
            Size { width, height },
            fov,
            Header::default(),
        );
        let [fx, _, cx, _, fy, cy, ..] = info.k;
        let half = f64::from(fov).to_radians() / 2.0;
        for edge in [-0.5, width as f64 - 0.5] {
            assert!(
                (((edge - cx) / fx).atan().abs() - half).abs() < 1e-12,
                "fov {fov}"
            );
        }
        assert_eq!(fx, fy);
        assert_eq!(
            (cx, cy),
            ((width as f64 - 1.0) / 2.0, (height as f64 - 1.0) / 2.0)
        );
        assert_eq!(info.k, [fx, 0.0, cx, 0.0, fx, cy, 0.0, 0.0, 1.0]);
        assert_eq!(
            info.p,
            [fx, 0.0, cx, 0.0, 0.0, fx, cy, 0.0, 0.0, 0.0, 1.0, 0.0]
        );
        assert_eq!(info.r, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!(
            (info.distortion_model.as_str(), info.d),
            ("plumb_bob", vec![0.0; 5])
        );
        assert_eq!((info.width as usize, info.height as usize), (width, height));
    }
}

#[test]
fn a_fisheye_has_the_equidistant_model_also_beyond_a_half_circle() {
    let size = Size {
        width: 800,
        height: 800,
    };
    let info = camera_info(Lens::Fisheye, size, 220.0, Header::default());
    // r = f * theta: the outer edge, 400 px from the centre, is 110 degrees off the axis.
    assert!((info.k[0] * 110.0f64.to_radians() - 400.0).abs() < 1e-9);
    assert_eq!(
        (info.distortion_model.as_str(), info.d.len()),
        ("equidistant", 4)
    );
}

#[test]
fn an_impossible_field_of_view_is_published_as_uncalibrated() {
    for fov in [0.0, 180.0, 270.0, -5.0, f32::NAN] {
        let info = camera_info(
            Lens::Pinhole,
            Size {
                width: 4,
                height: 4,
            },
            fov,
            Header::default(),
        );
        assert_eq!((info.k, info.p), ([0.0; 9], [0.0; 12]), "fov {fov}");
    }
}

#[test]
fn the_calibration_follows_the_field_of_view_and_the_size_of_the_file() {
    let options = Options {
        larger: true,
        ..Options::default()
    };
    let mut rig = Rig::open(&config(1, 48, 32, 1, &[]), options);
    let k = |rig: &Rig| rig.published::<CameraInfo>("camera_info").pop().unwrap();
    rig.accept(&rgb_png(48, 32, &pattern(48 * 32 * 3))).unwrap();
    assert!((k(&rig).k[0] - 24.0).abs() < 1e-9);
    rig.sensor.set_view(&View {
        fov_deg: 60.0,
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

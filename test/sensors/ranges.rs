//! Range finder and lists of objects beyond the recorded cases.
use super::rig::{Rig, config};
use rfly_bridge::{
    msgs::{
        sensor_msgs::msg::Range,
        vision_msgs::msg::{Detection2DArray, Detection3DArray},
    },
    sensors::Options,
    wire::{BoxEntry, RangeRecord, append_list},
};
use zerocopy::IntoBytes as _;

fn record(distance: f32) -> Vec<u8> {
    RangeRecord::new(distance, 7, [0.0; 3], [0.0; 3], [1.0, 2.0, -3.0], [4.0, 5.0, -6.0])
        .as_bytes()
        .to_vec()
}

#[test]
fn what_is_out_of_range_is_infinite_as_rep_117_says_and_hits_nothing() {
    let mut rig = Rig::open(&config(5, 0, 0, 1, &[50.0]), Options::default());
    let distances = [0.0, 0.01, 49.9, 50.0, 60.0, -1.0, f32::NAN];
    distances.iter().for_each(|d| rig.accept(&record(*d)).unwrap());
    let found: Vec<_> = rig.published::<Range>("range").iter().map(|r| r.range).collect();
    assert_eq!(found[..5], [f32::NEG_INFINITY, 0.01, 49.9, f32::INFINITY, f32::INFINITY]);
    assert!(found[5].is_nan() && found[6].is_nan());
    let hits: Vec<_> =
        rig.published::<Detection3DArray>("range/hit").iter().map(|h| h.detections.len()).collect();
    assert_eq!(hits, [0, 1, 1, 0, 0, 0, 0]);
    let range = &rig.published::<Range>("range")[0];
    assert_eq!((range.min_range, range.max_range), (0.0, 50.0));
    assert!(range.field_of_view > 0.0);
}

#[test]
fn a_hit_names_object_point_and_box_in_the_map_frame() {
    let mut rig = Rig::open(&config(5, 0, 0, 3, &[50.0]), Options::default());
    rig.accept(&record(10.0)).unwrap();
    rig.accept(&record(99.0)).unwrap();
    rig.accept(&record(11.0)).unwrap();
    let all: Vec<Detection3DArray> = rig.published("range/hit");
    assert_eq!(all.iter().map(|m| m.detections.len()).collect::<Vec<_>>(), [1, 0, 1]);
    assert_eq!(all[0].detections, all[2].detections, "nothing is left over from the miss");
    let hit = &all[2].detections[0];
    assert_eq!((hit.header.frame_id.as_str(), hit.id.as_str()), ("map", "7"));
    let p = &hit.results[0].pose.pose.position;
    assert_eq!([p.x, p.y, p.z], [2.0, 1.0, 3.0], "NED to ENU");
    assert_eq!(hit.results[0].pose.pose.orientation.w, 1.0);
}

#[test]
fn lists_grow_and_shrink_without_leftovers() {
    let mut rig = Rig::open(&config(30, 640, 480, 1, &[100.0, 10.0]), Options::default());
    for count in [2, 0, 5, 1] {
        let boxes: Vec<_> = (0..count)
            .map(|i| BoxEntry::new(i, 0.5, [10.0, 20.0, 30.0 + i as f32, 60.0]))
            .collect();
        let mut payload = Vec::new();
        append_list(&boxes, &mut payload);
        rig.recorder.clear();
        rig.accept(&payload).unwrap();
        let message: Detection2DArray = rig.only("detections");
        let ids: Vec<_> =
            message.detections.iter().map(|d| d.results[0].hypothesis.class_id.clone()).collect();
        assert_eq!(ids, (0..count).map(|i| i.to_string()).collect::<Vec<_>>());
        for (i, d) in message.detections.iter().enumerate() {
            assert_eq!(
                (d.bbox.size_x, d.bbox.size_y, d.bbox.center.position.y),
                (20.0 + i as f64, 40.0, 40.0)
            );
            assert_eq!((d.results.len(), d.header.frame_id.as_str()), (1, "sensor3_optical_frame"));
        }
    }
}

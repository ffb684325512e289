//! Converts descriptions of vehicles and objects to markers for RViz and Foxglove.
use super::descriptions::{DescribedEntity, ReportedEntity};
use super::map_conversion::{pose_msg, vector_msg};
use super::messages::header;
use crate::msgs::std_msgs::msg::{ColorRGBA, Header};
use crate::msgs::visualization_msgs::msg::{Marker, MarkerArray};
use crate::time::RosTime;

/// Colours of vehicles and objects.
const COLOURS: [[f32; 4]; 2] = [[0.1, 0.7, 1.0, 0.35], [1.0, 0.7, 0.1, 0.35]];
/// Height of the text in m.
const TEXT_HEIGHT_M: f64 = 0.3;

/// Returns a box and a text for each described vehicle and object, and deletions for the entities in `removed`.
pub fn markers<'a>(
    described: impl Iterator<Item = (&'a ReportedEntity, &'a DescribedEntity)>,
    removed: &[ReportedEntity],
    map: &str,
) -> MarkerArray {
    let mut markers = Vec::new();
    for (entity, described) in described {
        let mut cube = marker(entity, Marker::CUBE, Marker::ADD, header(map, described.stamp));
        cube.pose = pose_msg(&described.centre);
        cube.scale = vector_msg(described.size);
        let [r, g, b, a] = COLOURS[usize::from(matches!(entity, ReportedEntity::Object(_)))];
        cube.color = ColorRGBA { r, g, b, a };
        let mut text =
            marker(entity, Marker::TEXT_VIEW_FACING, Marker::ADD, header(map, described.stamp));
        text.pose = cube.pose.clone();
        // Half the diagonal: above the box in any attitude.
        text.pose.position.z +=
            described.size.iter().fold(0.0, |a: f64, b| a.hypot(*b)) / 2.0 + TEXT_HEIGHT_M;
        text.scale = vector_msg([0.0, 0.0, TEXT_HEIGHT_M]);
        text.color = ColorRGBA { r, g, b, a: 1.0 };
        text.text = entity.to_string();
        markers.extend([cube, text]);
    }
    for entity in removed {
        for kind in [Marker::CUBE, Marker::TEXT_VIEW_FACING] {
            markers.push(marker(entity, kind, Marker::DELETE, header(map, RosTime::default())));
        }
    }
    MarkerArray { markers }
}

/// The namespace contains the part, and an object's name, which does not fit into the numeric id.
fn marker(entity: &ReportedEntity, kind: i32, action: i32, header: Header) -> Marker {
    let part = if kind == Marker::CUBE { "" } else { "_name" };
    let (ns, id) = match entity {
        ReportedEntity::Vehicle(id) => (format!("vehicles{part}"), *id),
        ReportedEntity::Object(name) => (format!("objects{part}/{name}"), 0),
    };
    Marker { header, ns, id, type_: kind, action, ..Marker::default() }
}

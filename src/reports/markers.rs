//! Described vehicles and objects as markers, for RViz and Foxglove.
use super::messages::header;
use super::place::{pose_msg, vector_msg};
use super::reported::{Described, Entity};
use crate::msgs::std_msgs::msg::{ColorRGBA, Header};
use crate::msgs::visualization_msgs::msg::{Marker, MarkerArray};
use crate::time::RosTime;

/// `Marker.CUBE` and `TEXT_VIEW_FACING`; `ADD` and `DELETE`.
const CUBE: i32 = 1;
const TEXT: i32 = 9;
const ADD: i32 = 0;
const DELETE: i32 = 2;
/// Vehicles, then objects.
const COLOURS: [[f32; 4]; 2] = [[0.1, 0.7, 1.0, 0.35], [1.0, 0.7, 0.1, 0.35]];
/// Height of the letters in m.
const LETTERS_M: f64 = 0.3;

/// Returns a box and a text for each described vehicle and object, and removes those of what is `gone`.
pub fn markers<'a>(
    described: impl Iterator<Item = (&'a Entity, &'a Described)>,
    gone: &[Entity],
    map: &str,
) -> MarkerArray {
    let mut markers = Vec::new();
    for (entity, described) in described {
        let mut cube = marker(entity, CUBE, ADD, header(map, described.stamp));
        cube.pose = pose_msg(&described.centre);
        cube.scale = vector_msg(described.size);
        let [r, g, b, a] = COLOURS[usize::from(matches!(entity, Entity::Object(_)))];
        cube.color = ColorRGBA { r, g, b, a };
        let mut text = marker(entity, TEXT, ADD, header(map, described.stamp));
        text.pose = cube.pose.clone();
        // Above the box, whatever its attitude.
        text.pose.position.z +=
            described.size.iter().fold(0.0, |a: f64, b| a.max(*b)) / 2.0 + LETTERS_M;
        text.scale = vector_msg([0.0, 0.0, LETTERS_M]);
        text.color = ColorRGBA { r, g, b, a: 1.0 };
        text.text = entity.to_string();
        markers.extend([cube, text]);
    }
    for entity in gone {
        for kind in [CUBE, TEXT] {
            markers.push(marker(
                entity,
                kind,
                DELETE,
                header(map, RosTime::default()),
            ));
        }
    }
    MarkerArray { markers }
}

/// The namespace tells entity and part: names are no numbers.
fn marker(entity: &Entity, kind: i32, action: i32, header: Header) -> Marker {
    let part = if kind == CUBE { "" } else { "_name" };
    let (ns, id) = match entity {
        Entity::Vehicle(id) => (format!("vehicles{part}"), *id),
        Entity::Object(name) => (format!("objects{part}/{name}"), 0),
    };
    Marker {
        header,
        ns,
        id,
        type_: kind,
        action,
        ..Marker::default()
    }
}

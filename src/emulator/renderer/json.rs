//! The state of the renderer as JSON, for tests.
use super::display::{Labels, Text};
use super::{Motions, RendererState};
use crate::emulator::world::{Object, Shape, Snapshot, Solid};
use serde_json::{Map, Value, json};

impl RendererState {
    /// The whole state at simulation time `now` in s.
    pub(in crate::emulator) fn state(&self, now: f64, motions: Motions<'_>) -> Value {
        let objects: Vec<Value> = (self.objects.keys())
            .filter(|id| !self.own.contains(id))
            .filter_map(|id| {
                let pose = self.drawn_motion(*id, now, motions, 0)?.pose;
                let mut object = body(&self.solid(*id, pose));
                object["id"] = json!(id);
                object["type"] = json!(self.vehicle_type(*id));
                object["motor_rpm"] = json!(self.motor_rpm(*id, now));
                Some(object)
            })
            .collect();
        let links = self.links.iter().map(|(id, link)| {
            let link = json!({"carrier": link.carrier, "kind": link.kind});
            (id.to_string(), link)
        });
        let looks = self.looks.iter().map(|(id, look)| {
            let look = json!({"type": look.model, "size": look.size, "stencil": look.stencil});
            (id.to_string(), look)
        });
        let stencils = self.stencils.iter();
        let stencils = stencils.map(|s| (s.text.clone(), json!(s.value)));
        let display = &self.display;
        let labels = display.labels.iter();
        let labels = labels.map(|(id, labels)| (id.to_string(), labels_json(labels, now)));
        let keys = display.keys.iter().map(|(key, (number, count))| {
            (key.clone(), json!({"number": number, "pressed": count}))
        });
        let messages = display.messages.iter().filter(|m| m.until > now);
        json!({
            "map": self.scene.name(),
            "objects": objects,
            "attached": links.collect::<Map<_, _>>(),
            "looks": looks.collect::<Map<_, _>>(),
            "stencils": stencils.collect::<Map<_, _>>(),
            "held": self.held.keys().collect::<Vec<_>>(),
            "position_scale": self.position_scale,
            "labels": labels.collect::<Map<_, _>>(),
            "messages": messages.map(|m| m.text.as_str()).collect::<Vec<_>>(),
            "view": {
                "position": display.view.position,
                "euler_deg": display.view.euler_deg,
                "fov_deg": display.view.fov_deg,
            },
            "keys": keys.collect::<Map<_, _>>(),
            "collides": display.collides,
            "blueprints": display.blueprints,
            "lines": display.lines,
            "settings": display.settings,
        })
    }
}

/// Pose and extents of a solid.
pub(in crate::emulator) fn body(solid: &Solid) -> Value {
    json!({
        "class": solid.stencil.unwrap_or(solid.paint),
        "shape": match solid.shape {
            Shape::Box => "box",
            Shape::Cylinder => "cylinder",
            Shape::Ellipsoid => "ellipsoid",
        },
        "centre": solid.pose.position.as_slice(),
        "quaternion": solid.pose.wxyz(),
        "half": solid.half.as_slice(),
    })
}

/// The objects of a snapshot that no vehicle simulator has.
pub(in crate::emulator) fn spawned(snapshot: &Snapshot, own: impl Fn(u16) -> bool) -> Vec<Value> {
    let others = snapshot.moving.iter().filter_map(|solid| match solid.object {
        Object::Vehicle(id) if !own(id) => {
            let mut object = body(solid);
            object["id"] = json!(id);
            Some(object)
        }
        _ => None,
    });
    others.collect()
}

fn labels_json(labels: &Labels, now: f64) -> Value {
    let text = |text: &Text| json!({"text": text.text, "colour": text.colour, "size": text.size});
    let rows = labels.rows.iter().filter(|row| row.until >= now);
    json!({
        "id": labels.id.as_ref().filter(|id| id.until >= now).map(text),
        "rows": rows.map(text).collect::<Vec<_>>(),
    })
}

//! The state of the renderer as JSON, for tests.
use super::display::{Labels, Text};
use super::{Moment, RendererState};
use crate::emulator::world::{Object, Snapshot, Solid};
use serde_json::{Map, Value, json};

impl RendererState {
    pub(in crate::emulator) fn state(&self, at: Moment<'_>) -> Value {
        let objects: Vec<Value> = (self.objects.keys())
            .filter(|id| !self.coptersim_ids.contains(id))
            .filter_map(|id| {
                let pose = self.drawn_motion(*id, at, 0)?.pose;
                let mut object = body_with_id(&self.solid(*id, pose));
                object["type"] = json!(self.vehicle_type(*id));
                object["motor_rpm"] = json!(self.motor_rpm(*id, at.time));
                Some(object)
            })
            .collect();
        let stencils = self.stencils.iter().map(|s| (s.text.clone(), json!(s.value)));
        let display = &self.display;
        let labels = display.labels.iter();
        let labels = labels.map(|(id, labels)| (id.to_string(), labels_json(labels, at.time)));
        let keys = display.keys.iter().map(|(key, (number, count))| {
            (key.clone(), json!({"number": number, "pressed": count}))
        });
        let messages = display.messages.iter().filter(|m| m.until > at.time);
        json!({
            "map": self.scene.name(),
            "objects": objects,
            "attached": self.links,
            "looks": self.looks,
            "stencils": stencils.collect::<Map<_, _>>(),
            "held": self.frozen.keys().collect::<Vec<_>>(),
            "position_scale": self.position_scale,
            "labels": labels.collect::<Map<_, _>>(),
            "messages": messages.map(|m| m.text.as_str()).collect::<Vec<_>>(),
            "view": display.view,
            "keys": keys.collect::<Map<_, _>>(),
            "collides": display.collides,
            "blueprints": display.blueprints,
            "lines": display.lines,
            "settings": display.settings,
        })
    }
}

/// A solid with the id of its object on the wire.
pub(in crate::emulator) fn body_with_id(solid: &Solid) -> Value {
    json!({
        "id": solid.object.id(),
        "class": solid.stencil.unwrap_or(solid.paint),
        "shape": solid.shape,
        "centre": solid.pose.position.as_slice(),
        "quaternion": solid.pose.wxyz(),
        "half": solid.half.as_slice(),
    })
}

/// The spawned objects of a snapshot: those with an id that is no vehicle of `CopterSim`.
pub(in crate::emulator) fn spawned(
    snapshot: &Snapshot,
    is_of_coptersim: impl Fn(u16) -> bool,
) -> Vec<Value> {
    let is_other = |s: &&Solid| matches!(s.object, Object::Vehicle(id) if !is_of_coptersim(id));
    snapshot.moving.iter().filter(is_other).map(body_with_id).collect()
}

fn labels_json(labels: &Labels, now: f64) -> Value {
    let is_shown = |text: &&Text| text.until >= now;
    json!({
        "id": labels.id.as_ref().filter(is_shown),
        "rows": labels.rows.iter().filter(is_shown).collect::<Vec<_>>(),
    })
}

//! Labels, messages, attachments and sizes of entities, inputs of their blueprints.
use super::send_command;
use crate::msgs::rfly_bridge_msgs::srv::{
    AttachRequest, SetActuatorsRequest, SetLabelRequest, SetSizeRequest, ShowMessageRequest,
};
use crate::msgs::std_msgs::msg::ColorRGBA;
use crate::scene::console::quote;
use crate::scene::datagrams::Recipient;
use crate::scene::state::SceneCall;
use crate::wire::{AttachPacket, Attachment, ExtActuatorsPacket, LabelPacket, LabelRow};

const RED: [u8; 3] = [255, 0, 0];
const FONT_SIZE: f32 = 30.0;
const FONT_SIZES: std::ops::RangeInclusive<f32> = 1.0..=1000.0;
/// Duration in packets for labels of ids, as the vendor's client sends it. The renderer ignores it and keeps these labels.
const ID_DURATION: f32 = 1.0;
const MESSAGE_S: f32 = 5.0;
const MAX_DURATION_S: f32 = 1e6;

pub(super) fn set_label(call: &mut SceneCall<'_>, request: &SetLabelRequest) -> Result<(), String> {
    let id = match request.entity.as_str() {
        "" => None,
        entity => Some(call.scene.entities.id_of(entity)?),
    };
    if request.clear {
        call.out.packet(Recipient::Windows, &LabelPacket::clear(id));
        return Ok(());
    }
    let (row, duration) = match request.row {
        -1 => (LabelRow::Append, read_time(request.duration, 0.0)?),
        0 => (LabelRow::Id, ID_DURATION),
        row @ 1..=5 => (LabelRow::Message(row.unsigned_abs()), read_time(request.duration, 0.0)?),
        other => {
            return Err(format!(
                "row must be 0 (the id), 1 to 5 (a message) or -1 (a new message), is {other}"
            ));
        }
    };
    let size = match request.size {
        0.0 => FONT_SIZE,
        size if FONT_SIZES.contains(&size) => size,
        size => return Err(format!("size must be 0 (default, 30) or 1 to 1000, is {size}")),
    };
    let style = (read_colour(&request.color)?, size);
    send_label(call, (id, row), &request.text, style, duration)
}

fn send_label(
    call: &mut SceneCall<'_>,
    (id, row): (Option<i32>, LabelRow),
    text: &str,
    style: ([u8; 3], f32),
    duration: f32,
) -> Result<(), String> {
    if let Some(c) = text.chars().find(|c| c.is_control()) {
        return Err(format!("text must not contain control characters, has {c:?}"));
    }
    let packet = LabelPacket::new(id, row, text, style, duration);
    let packet = packet.ok_or_else(|| {
        format!("text has at most 120 bytes of UTF-8, this one has {}", text.len())
    })?;
    call.out.packet(Recipient::Windows, &packet);
    Ok(())
}

fn read_time(given: f32, default: f32) -> Result<f32, String> {
    match given {
        0.0 => Ok(default),
        s if s > 0.0 && s <= MAX_DURATION_S => Ok(s),
        s => Err(format!("duration must be 0 or up to {MAX_DURATION_S} s, is {s}")),
    }
}

fn read_colour(color: &ColorRGBA) -> Result<[u8; 3], String> {
    let ColorRGBA { r, g, b, a } = *color;
    if a == 0.0 {
        return Ok(RED);
    }
    let parts = [r, g, b];
    if !parts.iter().all(|part| (0.0..=1.0).contains(part)) {
        return Err(format!("color.r, .g and .b must be from 0 to 1, are {parts:?}"));
    }
    Ok(parts.map(|part| (255.0 * part).round() as u8))
}

pub(super) fn show_message(
    call: &mut SceneCall<'_>,
    request: &ShowMessageRequest,
) -> Result<(), String> {
    let duration = read_time(request.duration, MESSAGE_S)?;
    let text = &request.text;
    if text.is_empty() {
        return Err("text is empty".to_owned());
    }
    if request.entities.is_empty() {
        let command = format!("RflyShowTextTime {} {duration}", quote(text)?);
        return send_command(call, &command, "text is too long");
    }
    let ids = request.entities.iter();
    let ids = ids.map(|entity| call.scene.entities.id_of(entity));
    for id in ids.collect::<Result<Vec<_>, _>>()? {
        send_label(call, (Some(id), LabelRow::Append), text, (RED, FONT_SIZE), duration)?;
    }
    Ok(())
}

pub(super) fn attach(call: &mut SceneCall<'_>, request: &AttachRequest) -> Result<(), String> {
    let mut pairs = Vec::new();
    for (i, attachment) in request.attachments.iter().enumerate() {
        let with_index = |message: String| format!("attachments[{i}]: {message}");
        let kind = match attachment.kind {
            0 => Attachment::None,
            1 => Attachment::Position,
            2 => Attachment::PositionYaw,
            3 => Attachment::Pose,
            other => {
                return Err(with_index(format!(
                    "kind must be 0 (none), 1 (position), 2 (position and yaw) or 3 (pose), is {other}"
                )));
            }
        };
        let id = |name: &str| call.scene.entities.id_of(name).map_err(|e| with_index(e.message));
        let (entity, carrier) = (id(&attachment.entity)?, id(&attachment.carrier)?);
        if entity == carrier {
            return Err(with_index(format!("{:?} cannot carry itself", attachment.entity)));
        }
        pairs.push((entity, carrier, kind));
    }
    let packet = AttachPacket::new(&pairs).filter(|_| !pairs.is_empty());
    let packet = packet.ok_or_else(|| {
        format!("attachments must be 1 to {}, are {}", AttachPacket::SIZE, pairs.len())
    })?;
    call.out.packet(Recipient::Windows, &packet);
    Ok(())
}

pub(super) fn set_size(call: &mut SceneCall<'_>, request: &SetSizeRequest) -> Result<(), String> {
    let scale = [request.scale.x, request.scale.y, request.scale.z].map(|factor| factor as f32);
    Ok(call.resize(&request.entity, scale)?)
}

pub(super) fn set_actuators(
    call: &mut SceneCall<'_>,
    request: &SetActuatorsRequest,
) -> Result<(), String> {
    let id = call.scene.entities.id_of(&request.entity)?;
    let inputs = pad::<8>("inputs", &request.inputs)?;
    let extended = pad::<16>("extended", &request.extended)?;
    if inputs.is_none() && extended.is_none() {
        return Err("inputs (1 to 8) and extended (9 to 24) are both empty".to_owned());
    }
    if let Some(inputs) = inputs {
        let words = inputs.map(|value| value.to_string()).join(" ");
        let command = format!("RflySetActuatorPWMs {id} {words}");
        send_command(call, &command, "inputs need too many digits")?;
    }
    if let Some(extended) = extended {
        let packet = ExtActuatorsPacket::new(id, call.uptime_s, extended);
        call.out.packet(Recipient::Windows, &packet);
    }
    Ok(())
}

fn pad<const N: usize>(name: &str, values: &[f64]) -> Result<Option<[f64; N]>, String> {
    if values.len() > N {
        return Err(format!("{name} has at most {N} values, got {}", values.len()));
    }
    if let Some(value) = values.iter().find(|value| !value.is_finite()) {
        return Err(format!("{name} must be finite, one is {value}"));
    }
    let all = std::array::from_fn(|i| values.get(i).copied().unwrap_or_default());
    Ok((!values.is_empty()).then_some(all))
}

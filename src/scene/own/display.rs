//! What is shown with entities: labels, messages, attachments, sizes, inputs of blueprints.
use super::answer;
use crate::msgs::rfly_bridge_msgs::srv::{
    AttachRequest, AttachResponse, SetActuatorsRequest, SetActuatorsResponse, SetLabelRequest,
    SetLabelResponse, SetSizeRequest, SetSizeResponse, ShowMessageRequest, ShowMessageResponse,
};
use crate::msgs::std_msgs::msg::ColorRGBA;
use crate::scene::console::quoted;
use crate::scene::datagrams::Recipient;
use crate::scene::state::{Call, Scene};
use crate::wire::{AttachPacket, Attachment, ExtActuatorsPacket, LabelPacket, LabelRow};

const RED: [u8; 3] = [255, 0, 0];
const FONT_SIZE: f32 = 30.0;
const FONT_SIZES: std::ops::RangeInclusive<f32> = 1.0..=1000.0;
/// What the vendor's client writes into labels of ids, which stay for ever.
const ID_DURATION: f32 = 1.0;
const MESSAGE_S: f32 = 5.0;
const LONGEST_S: f32 = 1e6;

/// `scene/set_label`.
pub fn set_label(
    scene: &mut Scene,
    request: SetLabelRequest,
    call: &mut Call<'_>,
) -> SetLabelResponse {
    let (success, message) = answer(label(scene, &request, call));
    SetLabelResponse { success, message }
}

fn label(scene: &Scene, request: &SetLabelRequest, call: &mut Call<'_>) -> Result<(), String> {
    let id = match request.entity.as_str() {
        "" => None,
        entity => Some(scene.entities.id_of(entity)?),
    };
    if request.clear {
        call.out.packet(Recipient::Windows, &LabelPacket::clear(id));
        return Ok(());
    }
    let (row, duration) = match request.row {
        -1 => (LabelRow::Append, seconds(request.duration, 0.0)?),
        0 => (LabelRow::Id, ID_DURATION),
        row @ 1..=5 => (LabelRow::Message(row.unsigned_abs()), seconds(request.duration, 0.0)?),
        other => {
            return Err(format!(
                "row must be 0 (the id), 1 to 5 (a message) or -1 (a new message), is {other}"
            ));
        }
    };
    let size = match request.size {
        0.0 => FONT_SIZE,
        size if FONT_SIZES.contains(&size) => size,
        size => return Err(format!("size must be 0 (30) or 1 to 1000, is {size}")),
    };
    let style = (colour(&request.color)?, size);
    text_packet(id, row, &request.text, style, duration, call)
}

fn text_packet(
    id: Option<i32>,
    row: LabelRow,
    text: &str,
    style: ([u8; 3], f32),
    duration: f32,
    call: &mut Call<'_>,
) -> Result<(), String> {
    if let Some(c) = text.chars().find(|c| c.is_control()) {
        return Err(format!("text must be one line, has {c:?}"));
    }
    let packet = LabelPacket::new(id, row, text, style, duration);
    let packet = packet.ok_or_else(|| {
        format!("text has at most 120 bytes of UTF-8, this one has {}", text.len())
    })?;
    call.out.packet(Recipient::Windows, &packet);
    Ok(())
}

fn seconds(given: f32, default: f32) -> Result<f32, String> {
    match given {
        0.0 => Ok(default),
        s if s > 0.0 && s <= LONGEST_S => Ok(s),
        s => Err(format!("duration must be 0 or up to {LONGEST_S} s, is {s}")),
    }
}

fn colour(color: &ColorRGBA) -> Result<[u8; 3], String> {
    let ColorRGBA { r, g, b, a } = *color;
    if a == 0.0 {
        return Ok(RED);
    }
    let parts = [r, g, b];
    match parts.iter().all(|part| (0.0..=1.0).contains(part)) {
        true => Ok(parts.map(|part| (255.0 * part).round() as u8)),
        false => Err(format!("color.r, .g and .b must be from 0 to 1, are {parts:?}")),
    }
}

/// `scene/show_message`.
pub fn show_message(
    scene: &mut Scene,
    request: ShowMessageRequest,
    call: &mut Call<'_>,
) -> ShowMessageResponse {
    let (success, message) = answer(message(scene, &request, call));
    ShowMessageResponse { success, message }
}

fn message(scene: &Scene, request: &ShowMessageRequest, call: &mut Call<'_>) -> Result<(), String> {
    let duration = seconds(request.duration, MESSAGE_S)?;
    let text = &request.text;
    if text.is_empty() {
        return Err("text is empty".to_owned());
    }
    if request.entities.is_empty() {
        let command = format!("RflyShowTextTime {} {duration}", quoted(text)?);
        let fits = call.out.command(Recipient::Windows, &command);
        return match fits {
            true => Ok(()),
            false => Err(format!(
                "text is too long: a command has 249 bytes, with this text {}",
                command.len()
            )),
        };
    }
    let ids = request.entities.iter();
    let ids = ids.map(|entity| scene.entities.id_of(entity));
    for id in ids.collect::<Result<Vec<_>, _>>()? {
        let style = (RED, FONT_SIZE);
        text_packet(Some(id), LabelRow::Append, text, style, duration, call)?;
    }
    Ok(())
}

/// `scene/attach`.
pub fn attach(scene: &mut Scene, request: AttachRequest, call: &mut Call<'_>) -> AttachResponse {
    let (success, message) = answer(attachments(scene, &request, call));
    AttachResponse { success, message }
}

fn attachments(scene: &Scene, request: &AttachRequest, call: &mut Call<'_>) -> Result<(), String> {
    let wanted = &request.attachments;
    let mut pairs = Vec::new();
    for (i, attachment) in wanted.iter().enumerate() {
        let at = |message: String| format!("attachments[{i}]: {message}");
        let kind = match attachment.kind {
            0 => Attachment::None,
            1 => Attachment::Position,
            2 => Attachment::PositionYaw,
            3 => Attachment::Pose,
            other => {
                return Err(at(format!(
                    "kind must be 0 (none), 1 (position), 2 (position and yaw) or 3 (pose), is {other}"
                )));
            }
        };
        let id = |name: &str| scene.entities.id_of(name).map_err(|r| at(r.message));
        let (entity, carrier) = (id(&attachment.entity)?, id(&attachment.carrier)?);
        if entity == carrier {
            return Err(at(format!("{:?} cannot carry itself", attachment.entity)));
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

/// `scene/set_size`.
pub fn set_size(
    scene: &mut Scene,
    request: SetSizeRequest,
    call: &mut Call<'_>,
) -> SetSizeResponse {
    let scale = [request.scale.x, request.scale.y, request.scale.z].map(|factor| factor as f32);
    let resized = scene.resize(&request.entity, scale, call);
    let (success, message) = answer(resized.map_err(String::from));
    SetSizeResponse { success, message }
}

/// `scene/set_actuators`.
pub fn set_actuators(
    scene: &mut Scene,
    request: SetActuatorsRequest,
    call: &mut Call<'_>,
) -> SetActuatorsResponse {
    let (success, message) = answer(actuators(scene, &request, call));
    SetActuatorsResponse { success, message }
}

fn actuators(
    scene: &Scene,
    request: &SetActuatorsRequest,
    call: &mut Call<'_>,
) -> Result<(), String> {
    let id = scene.entities.id_of(&request.entity)?;
    let inputs = padded::<8>("inputs", &request.inputs)?;
    let extended = padded::<16>("extended", &request.extended)?;
    if inputs.is_none() && extended.is_none() {
        return Err("inputs (1 to 8) and extended (9 to 24) are both empty".to_owned());
    }
    if let Some(inputs) = inputs {
        let words = inputs.map(|value| value.to_string()).join(" ");
        let command = format!("RflySetActuatorPWMs {id} {words}");
        if !call.out.command(Recipient::Windows, &command) {
            return Err(format!(
                "inputs need too many digits: a command has 249 bytes, with these {}",
                command.len()
            ));
        }
    }
    if let Some(extended) = extended {
        let packet = ExtActuatorsPacket::new(id, call.uptime_s, extended);
        call.out.packet(Recipient::Windows, &packet);
    }
    Ok(())
}

fn padded<const N: usize>(what: &str, values: &[f64]) -> Result<Option<[f64; N]>, String> {
    if values.len() > N {
        return Err(format!("{what} has at most {N} values, got {}", values.len()));
    }
    if let Some(value) = values.iter().find(|value| !value.is_finite()) {
        return Err(format!("{what} must be finite, one is {value}"));
    }
    let all = std::array::from_fn(|i| values.get(i).copied().unwrap_or_default());
    Ok((!values.is_empty()).then_some(all))
}

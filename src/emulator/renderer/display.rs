//! Texts, labels, view and settings of the renderer: stored, so that tests can read them.
use crate::wire::LabelPacket;
use std::collections::BTreeMap;

/// Rows of messages on one vehicle.
const ROWS: usize = 5;
/// Limit of texts, keys and settings: a flood must not fill the memory.
const MAX_ENTRIES: usize = 64;

/// A text on the screen or on a vehicle.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub(super) struct Text {
    pub(super) text: String,
    /// Red, green, blue.
    pub(super) colour: [u8; 3],
    pub(super) size: f64,
    /// Simulation time in s at which it disappears.
    #[serde(skip)]
    pub(super) until: f64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    pub(super) id: Option<Text>,
    pub(super) rows: Vec<Text>,
}

/// The camera of the window itself.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub(super) struct WindowCamera {
    /// North, east, down in m.
    pub(super) position: [f64; 3],
    /// Roll, pitch, yaw in degrees.
    pub(super) euler_deg: [f64; 3],
    pub(super) fov_deg: f64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Display {
    pub(super) messages: Vec<Text>,
    /// By id; 0: the labels of all vehicles.
    pub(super) labels: BTreeMap<u16, Labels>,
    pub(super) view: WindowCamera,
    /// The last number of each key, and how often it was pressed.
    pub(super) keys: BTreeMap<String, (Option<f64>, u64)>,
    /// Whether collisions are computed and sent to `CopterSim`.
    pub(super) collides: bool,
    /// Inputs 1 to 24 of a model's blueprint.
    pub(super) blueprints: BTreeMap<u16, [f64; 24]>,
    /// Colours of trajectories.
    pub(super) lines: BTreeMap<u16, [u8; 3]>,
    /// Arguments of commands and of the engine's settings by their names.
    pub(super) settings: BTreeMap<String, String>,
}

impl Display {
    pub(super) fn set_packet_label(&mut self, packet: &LabelPacket, now: f64) -> bool {
        let id = u16::try_from(packet.copter_id.get()).unwrap_or(0);
        let len = packet.text.iter().position(|b| *b == 0);
        let text = packet.text.get(..len.unwrap_or(packet.text.len()));
        let Ok(text) = std::str::from_utf8(text.unwrap_or_default()) else { return false };
        let text = Text {
            text: text.to_owned(),
            colour: packet.colour.map(|c| c.get().clamp(0, 255) as u8),
            size: packet.font_size.get().into(),
            until: expiry(packet.duration.get().into(), now),
        };
        self.set_label(id, packet.row.get(), text, now);
        true
    }

    /// Sets a label: row 0 is the id, 1 to 5 are messages, below 0 is a new message. An expired text removes its row;
    /// with a row below 0, all labels of the vehicle, or of all vehicles for id 0.
    pub(super) fn set_label(&mut self, id: u16, row: i32, text: Text, now: f64) {
        let is_removal = text.until < now;
        if is_removal && row < 0 {
            self.clear_labels((id > 0).then_some(id));
            return;
        }
        let labels = self.labels.entry(id).or_default();
        labels.rows.retain(|row| row.until >= now);
        if row == 0 {
            labels.id = (!is_removal).then_some(text);
            return;
        }
        let index = usize::try_from(row).ok().and_then(|row| row.checked_sub(1));
        match index.filter(|index| *index < labels.rows.len()) {
            Some(index) if is_removal => drop(labels.rows.remove(index)),
            Some(index) => labels.rows[index] = text,
            None if is_removal => {}
            None => {
                if labels.rows.len() == ROWS {
                    labels.rows.remove(0);
                }
                labels.rows.push(text);
            }
        }
    }

    /// Removes the labels of a vehicle, or of all.
    pub(super) fn clear_labels(&mut self, id: Option<u16>) {
        match id {
            Some(id) => drop(self.labels.remove(&id)),
            None => self.labels.clear(),
        }
    }

    /// Shows a text on the screen for some seconds.
    pub(super) fn show_message(&mut self, text: &str, seconds: f64, now: f64) {
        self.messages.retain(|message| message.until > now);
        if self.messages.len() < MAX_ENTRIES {
            self.messages.push(Text {
                text: text.to_owned(),
                colour: [255; 3],
                size: 20.0,
                until: now + seconds,
            });
        }
    }

    /// Sets inputs of a model's blueprint from number `first` on, counted from 0.
    pub(super) fn set_blueprint(&mut self, id: i32, first: usize, inputs: &[f64]) -> bool {
        let Some(id) = u16::try_from(id).ok().filter(|id| *id > 0) else { return false };
        let all = self.blueprints.entry(id).or_insert([0.0; 24]);
        let targets = all.iter_mut().skip(first);
        targets.zip(inputs).for_each(|(target, input)| *target = *input);
        true
    }

    /// Presses a key; a number may select one of its functions.
    pub(super) fn press_key(&mut self, key: &str, number: Option<f64>) {
        if key == "P" {
            self.collides = number.map_or(!self.collides, |number| number >= 0.0);
        }
        if self.keys.len() < MAX_ENTRIES || self.keys.contains_key(key) {
            let (last, count) = self.keys.entry(key.to_owned()).or_default();
            (*last, *count) = (number, *count + 1);
        }
    }

    pub(super) fn store_setting(&mut self, name: &str, arguments: &str) {
        if self.settings.len() < MAX_ENTRIES || self.settings.contains_key(name) {
            self.settings.insert(name.to_owned(), arguments.trim().to_owned());
        }
    }
}

/// Time at which a text shown for some seconds disappears; 0: never.
pub(super) fn expiry(seconds: f64, now: f64) -> f64 {
    if seconds == 0.0 { f64::INFINITY } else { now + seconds }
}

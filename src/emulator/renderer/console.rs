//! Console commands that change what the renderer shows.
use super::display::{Text, expiry};
use super::{Look, Moment, RendererState, Stencil};
use crate::emulator::world::{Pose, Quat, Vec3};
use crate::wire::{ConsoleArguments, Height};
use regex_lite::Regex;

/// Seconds for which `RflyShowText` shows its text.
const SHOW_TEXT_S: f64 = 5.0;
/// Commands of the renderer and of Unreal Engine that are only stored, and prefixes of the engine's settings.
#[rustfmt::skip] // a table
const STORED: [&str; 7] = [
    "RflyEnImgSync", "RflyCesiumOriPos", "RflyScanTerrainH", "RflyLoad3DFile", "slomo", "stat", "quit",
];
const PREFIXES: [&str; 2] = ["t.", "r."];
/// Limit of the stencil values set by name.
const MAX_STENCILS: usize = 256;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::emulator) enum Outcome {
    Done,
    /// Another map was loaded: running captures end.
    MapChanged,
    /// There is no command of this name.
    Unknown,
    /// The arguments are invalid, or name nothing that exists.
    Wrong,
}

struct CommandArguments<'a>(ConsoleArguments<'a>);

impl<'a> CommandArguments<'a> {
    fn word(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    fn number(&mut self) -> Option<f64> {
        self.word()?.parse().ok().filter(|number: &f64| number.is_finite())
    }

    fn numbers<const N: usize>(&mut self) -> Option<[f64; N]> {
        let mut all = [0.0; N];
        for number in &mut all {
            *number = self.number()?;
        }
        Some(all)
    }

    fn id(&mut self) -> Option<u16> {
        self.word()?.parse().ok().filter(|id| *id > 0)
    }

    /// Red, green and blue as six hexadecimal digits.
    fn colour(&mut self) -> Option<[u8; 3]> {
        let digits = u32::from_str_radix(self.word()?, 16).ok();
        let [0, red, green, blue] = digits?.to_be_bytes() else { return None };
        Some([red, green, blue])
    }

    fn rest(self) -> String {
        self.0.collect::<Vec<_>>().join(" ")
    }
}

impl RendererState {
    pub(in crate::emulator) fn command(
        &mut self,
        name: &str,
        arguments: ConsoleArguments<'_>,
        at: Moment<'_>,
    ) -> Outcome {
        let now = at.time;
        let all_arguments = arguments.clone();
        let mut a = CommandArguments(arguments);
        let result = match name {
            "RflyChangeMapbyID" => self.change_map(a.word()),
            "RflyChangeMapbyName" => self.load_map(a.word().unwrap_or_default(), -1).then_some(()),
            "RflyChangeViewKeyCmd" => return self.press_key(a),
            "RflyShowText" => {
                self.display.show_message(&a.rest(), SHOW_TEXT_S, now);
                Some(())
            }
            "RflyShowTextTime" => self.show_text_for(a, now),
            "RflySetIDLabel" => self.set_id_label(&mut a, now),
            "RflySetMsgLabel" => self.set_message_label(&mut a, now),
            "RflyCameraPosAng" => a.numbers().map(|view| self.move_view(view, false)),
            "RflyCameraPosAngAdd" => a.numbers().map(|view| self.move_view(view, true)),
            "RflyCameraFovDegrees" => a.number().map(|fov| self.display.view.fov_deg = fov),
            "RflyChange3DModel" => self.change_look(a, |look, a| {
                look.model = Some(a.word()?.parse().ok()?);
                Some(())
            }),
            "RflyChangeVehicleSize" => self.change_look(a, |look, a| {
                look.size = Some(a.number().filter(|size| *size > 0.0)?);
                Some(())
            }),
            "RflyMoveVehiclePosAng" => self.move_object(&mut a, true, at),
            "RflySetVehiclePosAng" => self.move_object(&mut a, false, at),
            "RflySetActuatorPWMs" => self.actuate::<8>(a, 0),
            "RflySetActuatorPWMsExt" => self.actuate::<16>(a, 8),
            "RflySetCopterLine" => a.id().zip(a.colour()).map(|(id, colour)| {
                self.display.lines.insert(id, colour);
            }),
            "RflyDelVehicles" => self.delete_listed(&a.rest()),
            "RflyDisableVeMove" => self.freeze_objects(&mut a, at),
            "RflySetPosScale" => a.number().map(|factor| self.position_scale = factor),
            "RflySetStencilValueByActorName" | "RflySetStencilValueByMeshComponentName" => {
                self.set_stencil_by_name(&mut a)
            }
            "RflySetStencilValueByCopterID" => self.change_look(a, |look, a| {
                look.stencil = Some(a.word()?.parse().ok()?);
                Some(())
            }),
            _ if STORED.contains(&name) || PREFIXES.iter().any(|p| name.starts_with(p)) => {
                self.display.store_setting(name, &a.rest());
                Some(())
            }
            _ => return Outcome::Unknown,
        };
        match result {
            Some(()) if name.starts_with("RflyChangeMap") => Outcome::MapChanged,
            Some(()) => {
                if name.starts_with("RflyCamera") {
                    self.display.store_setting(name, &CommandArguments(all_arguments).rest());
                }
                Outcome::Done
            }
            None => Outcome::Wrong,
        }
    }

    fn change_map(&mut self, number: Option<&str>) -> Option<()> {
        let number = number?.parse().ok()?;
        self.load_map("", number).then_some(())
    }

    fn press_key(&mut self, mut a: CommandArguments<'_>) -> Outcome {
        let Some(key) = a.word() else { return Outcome::Wrong };
        let number = a.number();
        self.display.press_key(key, number);
        match (key, number) {
            ("M", Some(number)) if self.load_map("", number as i32) => Outcome::MapChanged,
            ("M", Some(_)) => Outcome::Wrong,
            _ => Outcome::Done,
        }
    }

    /// The last word is the time; the text may have several words without quotes.
    fn show_text_for(&mut self, a: CommandArguments<'_>, now: f64) -> Option<()> {
        let words: Vec<&str> = a.0.collect();
        let (seconds, text) = words.split_last()?;
        let seconds = seconds.parse().ok().filter(|s: &f64| s.is_finite())?;
        self.display.show_message(&text.join(" "), seconds, now);
        Some(())
    }

    fn set_id_label(&mut self, a: &mut CommandArguments<'_>, now: f64) -> Option<()> {
        let (id, text) = (a.word()?.parse().ok()?, a.word()?.to_owned());
        let label = Text { text, colour: a.colour()?, size: a.number()?, until: f64::INFINITY };
        self.display.set_label(id, 0, label, now);
        Some(())
    }

    /// Rows count from 0 here, from 1 in the packet.
    fn set_message_label(&mut self, a: &mut CommandArguments<'_>, now: f64) -> Option<()> {
        let (id, text) = (a.word()?.parse().ok()?, a.word()?.to_owned());
        let (colour, size, seconds) = (a.colour()?, a.number()?, a.number()?);
        let row = a.number()? as i32;
        let label = Text { text, colour, size, until: expiry(seconds, now) };
        let row = if row < 0 { -1 } else { row + 1 };
        self.display.set_label(id, row, label, now);
        Some(())
    }

    fn move_view(&mut self, [x, y, z, roll, pitch, yaw]: [f64; 6], is_relative: bool) {
        let view = &mut self.display.view;
        let add = |vector: &mut [f64; 3], values: [f64; 3]| {
            for (component, value) in vector.iter_mut().zip(values) {
                *component = if is_relative { *component + value } else { value };
            }
        };
        add(&mut view.position, [x, y, z]);
        add(&mut view.euler_deg, [roll, pitch, yaw]);
    }

    fn exists(&self, id: u16) -> bool {
        self.coptersim_ids.contains(&id) || self.objects.contains_key(&id)
    }

    /// Reads the id of an object, and changes its look.
    fn change_look(
        &mut self,
        mut a: CommandArguments<'_>,
        change: impl FnOnce(&mut Look, &mut CommandArguments<'_>) -> Option<()>,
    ) -> Option<()> {
        let id = a.id().filter(|id| self.exists(*id))?;
        let mut look = self.looks.get(&id).copied().unwrap_or_default();
        change(&mut look, &mut a)?;
        self.looks.insert(id, look);
        Some(())
    }

    /// Moves an object. `CopterSim` moves its own vehicles back at once, unless they are frozen.
    fn move_object(
        &mut self,
        a: &mut CommandArguments<'_>,
        is_relative: bool,
        at: Moment<'_>,
    ) -> Option<()> {
        let id = a.id().filter(|id| self.exists(*id))?;
        let fits_ground = a.number()? != 0.0;
        let [x, y, z, roll, pitch, yaw] = a.numbers()?;
        let [roll, pitch, yaw] = [roll, pitch, yaw].map(f64::to_radians);
        let mut pose = Pose::new([x, y, z], [roll, pitch, yaw]);
        if is_relative {
            let here = self.own_motion(id, at)?.pose;
            let [r, p, y] = here.roll_pitch_yaw();
            pose = Pose {
                position: here.position + pose.position,
                attitude: Quat::from_euler_angles(r + roll, p + pitch, y + yaw),
            };
        }
        if let Some(Some(frozen)) = self.frozen.get_mut(&id) {
            *frozen = pose;
        } else if let Some(object) = self.objects.get_mut(&id) {
            object.pose = pose;
            object.velocity = Vec3::zeros();
            object.height = if fits_ground { Height::Ground } else { Height::Given };
        }
        Some(())
    }

    fn actuate<const N: usize>(&mut self, mut a: CommandArguments<'_>, first: usize) -> Option<()> {
        let id = a.id()?;
        let mut inputs = [0.0; N];
        // Omitted inputs are 0.
        for input in &mut inputs {
            match a.word() {
                Some(word) => *input = word.parse().ok()?,
                None => break,
            }
        }
        self.display.set_blueprint(id.into(), first, &inputs).then_some(())
    }

    fn delete_listed(&mut self, list: &str) -> Option<()> {
        let ids = parse_ids(list)?;
        let all_exist = ids.iter().all(|id| self.exists(*id));
        ids.into_iter().for_each(|id| self.delete(id));
        all_exist.then_some(())
    }

    fn freeze_objects(&mut self, a: &mut CommandArguments<'_>, at: Moment<'_>) -> Option<()> {
        let ids = parse_ids(a.word()?)?;
        let is_on = a.number()? != 0.0;
        for id in ids {
            if is_on {
                let is_of_coptersim = self.coptersim_ids.contains(&id);
                let pose = { self.own_motion(id, at) }.filter(|_| is_of_coptersim);
                self.frozen.insert(id, pose.map(|k| k.pose));
            } else {
                self.frozen.remove(&id);
            }
        }
        Some(())
    }

    fn set_stencil_by_name(&mut self, a: &mut CommandArguments<'_>) -> Option<()> {
        let text = a.word()?.to_owned();
        let value = a.word()?.parse().ok()?;
        let names = match a.word() {
            Some("True" | "true" | "1") => Regex::new(&text).ok()?,
            _ => Regex::new(&format!("^{}$", regex_lite::escape(&text))).ok()?,
        };
        self.stencils.retain(|stencil| stencil.text != text);
        if self.stencils.len() == MAX_STENCILS {
            return None;
        }
        self.stencils.push(Stencil { text, names, value });
        self.scene = self.scene.with_stencils(|name| self.stencil_of(name));
        Some(())
    }
}

/// Parses comma-separated ids.
fn parse_ids(list: &str) -> Option<Vec<u16>> {
    let id = |text: &str| text.trim().parse().ok().filter(|id| *id > 0);
    list.split(',').map(id).collect()
}

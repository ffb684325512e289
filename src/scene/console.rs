//! Checks console commands of the renderer.
use crate::{config::did_you_mean, wire::split_console_command};

/// Longest command to a window in bytes.
pub(super) const MAX_COMMAND_LEN: usize = 249;
/// Longest command to every renderer of the network in bytes.
pub(super) const MAX_NETWORK_COMMAND_LEN: usize = 91;

/// Type of an argument.
#[derive(Clone, Copy, strum::IntoStaticStr)]
enum ArgumentKind {
    #[strum(serialize = "a text")]
    Text,
    #[strum(serialize = "a number")]
    Number,
    #[strum(serialize = "a whole number")]
    Integer,
    #[strum(serialize = "ids with commas between them")]
    Ids,
    #[strum(serialize = "RRGGBB")]
    Colour,
    #[strum(serialize = "0 or 1")]
    Switch,
    #[strum(serialize = "True or False")]
    Truth,
}

impl ArgumentKind {
    fn is_valid(self, word: &str) -> bool {
        let is_integer = |word: &str| word.parse::<i32>().is_ok();
        let is_hex = |word: &str| word.bytes().all(|b| b.is_ascii_hexdigit());
        match self {
            Self::Text => !word.is_empty(),
            Self::Number => word.parse().is_ok_and(f64::is_finite),
            Self::Integer => is_integer(word),
            Self::Ids => word.split(',').all(is_integer),
            Self::Colour => word == "0" || word.len() == 6 && is_hex(word),
            Self::Switch => matches!(word, "0" | "1"),
            Self::Truth => matches!(word, "True" | "False"),
        }
    }
}

use ArgumentKind::{Colour, Ids, Integer, Number, Switch, Text, Truth};

/// Commands of the renderer: name, arguments, number of required arguments. Source: vendor SDK 3.06, pages `command/Rfly*`.
#[rustfmt::skip] // a table
const COMMANDS: [(&str, &[ArgumentKind], usize); 30] = [
    ("RflyCameraFovDegrees", &[Number], 1),
    ("RflyCameraPosAng", &[Number; 6], 3),
    ("RflyCameraPosAngAdd", &[Number; 6], 3),
    ("RflyCesiumOriPos", &[Number; 4], 3),
    ("RflyChange3DModel", &[Integer, Integer], 1),
    ("RflyChangeMapbyID", &[Integer], 1),
    ("RflyChangeMapbyName", &[Text], 1),
    ("RflyChangeVehicleSize", &[Integer, Number], 1),
    ("RflyChangeViewKeyCmd", &[Text, Integer], 1),
    ("RflyClearCapture", &[Integer], 0),
    ("RflyDelVehicles", &[Ids], 1),
    ("RflyDisableVeMove", &[Ids, Switch], 2),
    ("RflyEnImgSync", &[Switch], 1),
    ("RflyLoad3DFile", &[Text], 1),
    ("RflyMoveVehiclePosAng", &[Integer, Switch, Number, Number, Number, Number, Number, Number], 8),
    ("RflyReqObjData", &[Integer, Text, Colour], 1),
    ("RflyReqVehicleData", &[Switch], 1),
    ("RflyScanTerrainH", &[Number; 6], 6),
    ("RflySetActuatorPWMs", &[Integer, Number, Number, Number, Number, Number, Number, Number, Number], 9),
    ("RflySetActuatorPWMsExt", &[Integer, Number, Number, Number, Number, Number, Number, Number, Number, Number, Number, Number,
        Number, Number, Number, Number, Number], 17),
    ("RflySetCopterLine", &[Integer, Colour], 2),
    ("RflySetIDLabel", &[Integer, Text, Colour, Number], 2),
    ("RflySetMsgLabel", &[Integer, Text, Colour, Number, Number, Integer], 2),
    ("RflySetPosScale", &[Number], 1),
    ("RflySetSimSpeed", &[Number], 1),
    ("RflySetStencilValueByActorName", &[Text, Integer, Truth], 2),
    ("RflySetStencilValueByCopterID", &[Integer, Integer], 2),
    ("RflySetStencilValueByMeshComponentName", &[Text, Integer, Truth], 2),
    ("RflySetVehiclePosAng", &[Integer, Switch, Number, Number, Number, Number, Number, Number], 8),
    ("RflyShowText", &[Text], 1),
];
/// The command whose text needs no quotes around spaces.
const SHOW: &str = "RflyShowTextTime";

/// Checks a command and returns the text to send, trimmed. Converts `Name(a,b);`, the form in the vendor's documents and in the
/// renderer's own window, to `Name a b`.
pub fn check_command(text: &str, longest: usize) -> Result<String, String> {
    if let Some(c) = text.trim().chars().find(|c| c.is_control()) {
        return Err(format!("a command is one line of text, this one has {c:?}"));
    }
    if text.matches('"').count() % 2 == 1 {
        return Err("a `\"` is missing: a text with spaces needs one at each end".to_owned());
    }
    let text = text.trim().trim_end_matches([';', ' ']);
    let text = match text.split_once('(') {
        Some((name, inside)) if !name.is_empty() && name.chars().all(is_name_char) => {
            remove_brackets(name, inside)?
        }
        _ => text.to_owned(),
    };
    if text.is_empty() {
        return Err("a command is needed, such as `RflyShowTextTime hello 5`".to_owned());
    }
    if text.len() > longest {
        return Err(format!(
            "a command to this recipient has at most {longest} bytes, this one has {}",
            text.len()
        ));
    }
    check_words(&text)?;
    Ok(text)
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-".contains(c)
}

fn find_command(name: &str) -> Option<&'static (&'static str, &'static [ArgumentKind], usize)> {
    COMMANDS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))
}

/// Converts `Name(a,b)` to `Name a b`.
fn remove_brackets(name: &str, inside: &str) -> Result<String, String> {
    let inside = inside.strip_suffix(')').ok_or_else(|| {
        format!("`{name}(` needs a `)` at its end, or its arguments behind spaces: `{name} a b`")
    })?;
    let mut is_quoted = false;
    let words = inside.split(|c: char| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    });
    let mut words: Vec<_> = words.map(|word| word.trim().to_owned()).collect();
    if inside.trim().is_empty() {
        words.clear();
    }
    if words.iter().any(String::is_empty) {
        return Err(format!("{name}: an argument between two commas is empty"));
    }
    // A list of ids contains commas.
    if let Some((_, kinds @ [ArgumentKind::Ids, ..], _)) = find_command(name)
        && words.len() > kinds.len()
    {
        let rest = words.split_off(1 + words.len() - kinds.len());
        words = [vec![words.join(",")], rest].concat();
    }
    for word in &mut words {
        if word.contains(char::is_whitespace) && !word.starts_with('"') {
            *word = format!("\"{word}\"");
        }
    }
    words.insert(0, name.to_owned());
    Ok(words.join(" "))
}

fn check_words(text: &str) -> Result<(), String> {
    let (name, arguments) = split_console_command(text);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_name_char) {
        return Err(format!(
            "a command begins with its name (letters, digits, `.`, `_`, `-`), this one with {name:?}"
        ));
    }
    match find_command(name) {
        Some((name, kinds, needed)) => check_arguments(name, kinds, *needed, arguments)?,
        None if name.eq_ignore_ascii_case(SHOW) => check_show(arguments)?,
        // The engine has thousands of other commands.
        None if !name.starts_with("Rfly") => {}
        None => {
            let names = COMMANDS.iter().map(|(name, ..)| *name).chain([SHOW]);
            let hint = did_you_mean(name, names);
            if !hint.is_empty() {
                return Err(format!("{name} is not a command of the renderer{hint}"));
            }
        }
    }
    Ok(())
}

fn check_arguments<'a>(
    name: &str,
    kinds: &[ArgumentKind],
    needed: usize,
    arguments: impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    let words: Vec<&str> = arguments.collect();
    let wanted = kinds.iter().map(|kind| <&str>::from(*kind)).collect::<Vec<_>>().join(", ");
    if words.len() < needed || words.len() > kinds.len() {
        let max = kinds.len();
        let count = if needed == max { max.to_string() } else { format!("{needed} to {max}") };
        return Err(format!(
            "{name} has {count} arguments ({wanted}), got {}; a text with spaces needs `\"` at each end",
            words.len()
        ));
    }
    for (i, (kind, word)) in kinds.iter().zip(&words).enumerate() {
        if !kind.is_valid(word) {
            return Err(format!(
                "{name}: argument {} must be {}, is {word:?}; the arguments are {wanted}",
                i + 1,
                <&str>::from(*kind)
            ));
        }
    }
    Ok(())
}

fn check_show<'a>(arguments: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let words: Vec<&str> = arguments.collect();
    match words.split_last() {
        Some((seconds, [_, ..])) if Number.is_valid(seconds) => Ok(()),
        _ => Err(format!(
            "{SHOW} has a text and its seconds, such as `{SHOW} hello 5`, got {words:?}"
        )),
    }
}

/// Returns a text as an argument, in quotes if it has spaces.
pub(super) fn quote(text: &str) -> Result<String, String> {
    if let Some(c) = text.chars().find(|c| c.is_control() || *c == '"') {
        return Err(format!("the text must be one line without `\"`, has {c:?}"));
    }
    let needs_quotes = text.is_empty() || text.contains(char::is_whitespace);
    Ok(if needs_quotes { format!("\"{text}\"") } else { text.to_owned() })
}

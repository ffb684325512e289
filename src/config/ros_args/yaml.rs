//! YAML as rcl reads it: with rcl's own rules for scalars, and without aliases. Each node has its line number.
use crate::config::ParamValue;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};

/// Maximum depth of nesting, which bounds the recursion; no real parameter file is as deep.
const MAX_DEPTH: usize = 32;

/// A node with its first line, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Yaml {
    pub(crate) line: usize,
    pub(crate) kind: YamlKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum YamlKind {
    /// No value, as after `key:`.
    Empty,
    /// The text as written, and the value with its YAML type.
    Scalar(String, ParamValue),
    Sequence(Vec<Yaml>),
    Mapping(Vec<(String, Yaml)>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct YamlError {
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl YamlError {
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

impl From<ScanError> for YamlError {
    fn from(error: ScanError) -> Self {
        Self::new(error.marker().line(), format!("invalid YAML: {}", error.info()))
    }
}

/// Parses the first document; `None` if there is none.
pub(crate) fn parse(text: &str) -> Result<Option<Yaml>, YamlError> {
    let mut parser = Parser::new_from_str(text);
    while let Some(next) = parser.next_event() {
        match next? {
            (Event::StreamStart | Event::DocumentStart(_) | Event::Nothing, _) => {}
            (Event::StreamEnd | Event::DocumentEnd, _) => break,
            (event, span) => return parse_node(&mut parser, event, span, 0).map(Some),
        }
    }
    Ok(None)
}

fn parse_node<'a>(
    parser: &mut Parser<'a, StrInput<'a>>,
    event: Event<'a>,
    span: Span,
    depth: usize,
) -> Result<Yaml, YamlError> {
    let line = span.start.line();
    if depth > MAX_DEPTH {
        return Err(YamlError::new(line, format!("is nested deeper than {MAX_DEPTH} levels")));
    }
    let kind = match event {
        Event::Scalar(text, ScalarStyle::Plain, ..) if text.is_empty() => YamlKind::Empty,
        Event::Scalar(text, style, ..) => {
            let value = match style {
                ScalarStyle::Plain => plain_scalar(&text),
                _ => ParamValue::Str(text.to_string()),
            };
            YamlKind::Scalar(text.into_owned(), value)
        }
        Event::SequenceStart(..) => {
            let mut items = Vec::new();
            loop {
                match next_event(parser, line)? {
                    (Event::SequenceEnd, _) => break YamlKind::Sequence(items),
                    (event, span) => items.push(parse_node(parser, event, span, depth + 1)?),
                }
            }
        }
        Event::MappingStart(..) => {
            let mut pairs = Vec::new();
            loop {
                let key = match next_event(parser, line)? {
                    (Event::MappingEnd, _) => break YamlKind::Mapping(pairs),
                    (Event::Scalar(key, ..), _) => key.into_owned(),
                    (_, span) => {
                        return Err(YamlError::new(span.start.line(), "a key must be a name"));
                    }
                };
                let (event, span) = next_event(parser, line)?;
                pairs.push((key, parse_node(parser, event, span, depth + 1)?));
            }
        }
        Event::Alias(_) => {
            let why = "aliases (`*name`) are not supported in ROS parameters";
            return Err(YamlError::new(line, why));
        }
        _ => return Err(YamlError::new(line, "ends too early")),
    };
    Ok(Yaml { line, kind })
}

fn next_event<'a>(
    parser: &mut Parser<'a, StrInput<'a>>,
    line: usize,
) -> Result<(Event<'a>, Span), YamlError> {
    let next = parser.next_event();
    Ok(next.ok_or_else(|| YamlError::new(line, "ends too early"))??)
}

/// Type of an unquoted scalar by the rules of rcl_yaml_param_parser: YAML 1.1 booleans, C integers, C reals, else text.
pub(crate) fn plain_scalar(text: &str) -> ParamValue {
    match text {
        "Y" | "y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            ParamValue::Bool(true)
        }
        "N" | "n" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            ParamValue::Bool(false)
        }
        ".nan" | ".NaN" | ".NAN" => ParamValue::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => ParamValue::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => ParamValue::Float(f64::NEG_INFINITY),
        _ => match (c_integer(text), text.parse()) {
            (Some(value), _) => ParamValue::Int(value),
            (None, Ok(value)) => ParamValue::Float(value),
            (None, Err(_)) => ParamValue::Str(text.to_owned()),
        },
    }
}

/// `strtol` with base 0: decimal, 0x hexadecimal, leading 0 octal.
fn c_integer(text: &str) -> Option<i64> {
    let (is_negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => (16, hex),
        None if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        None => (10, digits),
    };
    if !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None; // from_str_radix would accept a second sign
    }
    let value = i128::from_str_radix(digits, radix).ok()?;
    i64::try_from(if is_negative { -value } else { value }).ok()
}

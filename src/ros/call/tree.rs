//! A message as a tree of values, for output as text with the field names of its definition.
use super::fill::{FILLER, FieldError, ros_name, unknown_field};
use serde::ser::{
    Impossible, Serialize, SerializeSeq, SerializeStruct, SerializeTuple, Serializer,
};

/// A message, or a value in it.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageValue {
    /// `bool`.
    Bool(bool),
    /// Signed integers.
    Signed(i64),
    /// Unsigned integers.
    Unsigned(u64),
    /// `float32`.
    Single(f32),
    /// `float64`.
    Real(f64),
    /// `string`.
    Text(String),
    /// Arrays and sequences.
    List(Vec<Self>),
    /// Nested messages, fields in the order of the definition.
    Fields(Vec<(&'static str, Self)>),
}

/// Options of [`MessageValue::shorten`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ShortenOptions {
    /// Maximum length of arrays and texts; `...` replaces the rest.
    pub length: Option<usize>,
    /// Writes only the length of arrays.
    pub no_arrays: bool,
    /// Writes only the length of texts.
    pub no_texts: bool,
}

impl MessageValue {
    /// Reads a message. Lists keep the first `most` elements. Errors: a value has a type that messages do not have.
    pub(super) fn of(message: &impl Serialize, most: usize) -> Result<Self, FieldError> {
        message.serialize(TreeBuilder { most })
    }

    /// Returns the value at a path such as `pose.position`, `ranges[3]`; `None` if a list has no such element.
    /// Errors: the path does not fit the type of the message.
    pub fn at(&self, path: &str) -> Result<Option<&Self>, String> {
        let mut at = self;
        let steps = path.split(['.', '[']).map(|step| step.trim_end_matches(']'));
        for step in steps.filter(|step| !step.is_empty()) {
            let next = match at {
                Self::Fields(fields) => {
                    let found = fields.iter().find(|(name, _)| *name == step);
                    let found = found.ok_or_else(|| {
                        let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
                        format!("{path}: {}", unknown_field(step, &names))
                    })?;
                    Some(&found.1)
                }
                Self::List(items) => {
                    let index = step.parse::<usize>().ok();
                    items.get(index.ok_or_else(|| {
                        format!("{path}: \"{step}\" is not an index of an array, such as [0]")
                    })?)
                }
                _ => return Err(format!("{path}: \"{step}\" follows a value without fields")),
            };
            let Some(next) = next else { return Ok(None) };
            at = next;
        }
        Ok(Some(at))
    }

    /// Shortens long arrays and texts, as `ros2 topic echo` does.
    pub fn shorten(&mut self, how: ShortenOptions) {
        let most = how.length.unwrap_or(usize::MAX);
        match self {
            Self::List(items) if how.no_arrays => {
                *self = Self::Text(format!("<array of {}>", items.len()));
            }
            Self::List(items) => {
                let is_long = items.len() > most;
                items.truncate(most);
                items.iter_mut().for_each(|item| item.shorten(how));
                if is_long {
                    items.push(Self::Text("...".to_owned()));
                }
            }
            Self::Text(text) if how.no_texts => {
                *text = format!("<string of {}>", text.chars().count());
            }
            Self::Text(text) => {
                if let Some((end, _)) = text.char_indices().nth(most) {
                    text.truncate(end);
                    text.push_str("...");
                }
            }
            Self::Fields(fields) => fields.iter_mut().for_each(|(_, value)| value.shorten(how)),
            _ => {}
        }
    }

    /// Writes YAML in block style.
    pub fn to_yaml(&self) -> Result<String, String> {
        let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
        let mut text = String::new();
        serde_saphyr::to_fmt_writer_with_options(&mut text, self, options)
            .map_err(|error| error.to_string())?;
        Ok(text)
    }

    /// Writes all values in the order of the definition, separated by commas.
    pub fn to_csv(&self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Signed(value) => value.to_string(),
            Self::Unsigned(value) => value.to_string(),
            Self::Single(value) => format!("{value:?}"),
            Self::Real(value) => format!("{value:?}"),
            Self::Text(text) if text.contains([',', '"', '\n']) => {
                format!("\"{}\"", text.replace('"', "\"\""))
            }
            Self::Text(text) => text.clone(),
            Self::List(items) => items.iter().map(Self::to_csv).collect::<Vec<_>>().join(","),
            Self::Fields(fields) => {
                fields.iter().map(|(_, value)| value.to_csv()).collect::<Vec<_>>().join(",")
            }
        }
    }
}

impl Serialize for MessageValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => value.serialize(serializer),
            Self::Signed(value) => value.serialize(serializer),
            Self::Unsigned(value) => value.serialize(serializer),
            Self::Single(value) => value.serialize(serializer),
            Self::Real(value) => value.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
            Self::List(items) => items.serialize(serializer),
            Self::Fields(fields) => {
                serializer.collect_map(fields.iter().map(|(name, value)| (name, value)))
            }
        }
    }
}

/// Serializes the types that occur in messages.
#[derive(Clone, Copy)]
struct TreeBuilder {
    /// Largest number of elements to keep of a list.
    most: usize,
}

struct ListBuilder {
    items: Vec<MessageValue>,
    builder: TreeBuilder,
}

struct FieldsBuilder {
    fields: Vec<(&'static str, MessageValue)>,
    builder: TreeBuilder,
}

macro_rules! scalars {
    ($($method:ident $type:ty => $variant:ident;)+) => {
        $(fn $method(self, value: $type) -> Result<MessageValue, FieldError> {
            Ok(MessageValue::$variant(value.into()))
        })+
    };
}

macro_rules! foreign {
    ($($method:ident ( $($argument:ty),* ) -> $result:ty;)+) => {
        $(fn $method(self, $(_: $argument),*) -> Result<$result, FieldError> {
            foreign()
        })+
    };
}

/// The error for types of serde that do not occur in messages.
fn foreign<T>() -> Result<T, FieldError> {
    Err(serde::ser::Error::custom("is of a type that ROS messages do not have"))
}

type Foreign = Impossible<MessageValue, FieldError>;

impl Serializer for TreeBuilder {
    type Ok = MessageValue;
    type Error = FieldError;
    type SerializeSeq = ListBuilder;
    type SerializeTuple = ListBuilder;
    type SerializeStruct = FieldsBuilder;
    type SerializeTupleStruct = Foreign;
    type SerializeTupleVariant = Foreign;
    type SerializeMap = Foreign;
    type SerializeStructVariant = Foreign;

    scalars! {
        serialize_bool bool => Bool;
        serialize_i8 i8 => Signed;
        serialize_i16 i16 => Signed;
        serialize_i32 i32 => Signed;
        serialize_i64 i64 => Signed;
        serialize_u8 u8 => Unsigned;
        serialize_u16 u16 => Unsigned;
        serialize_u32 u32 => Unsigned;
        serialize_u64 u64 => Unsigned;
        serialize_f32 f32 => Single;
        serialize_f64 f64 => Real;
        serialize_char char => Text;
        serialize_str &str => Text;
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<MessageValue, FieldError> {
        bytes.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<ListBuilder, FieldError> {
        Ok(ListBuilder { items: Vec::new(), builder: self })
    }

    fn serialize_tuple(self, _: usize) -> Result<ListBuilder, FieldError> {
        self.serialize_seq(None)
    }

    fn serialize_struct(self, _: &'static str, len: usize) -> Result<FieldsBuilder, FieldError> {
        Ok(FieldsBuilder { fields: Vec::with_capacity(len), builder: self })
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<MessageValue, FieldError> {
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<MessageValue, FieldError> {
        foreign()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<MessageValue, FieldError> {
        foreign()
    }

    foreign! {
        serialize_none() -> MessageValue;
        serialize_unit() -> MessageValue;
        serialize_unit_struct(&'static str) -> MessageValue;
        serialize_unit_variant(&'static str, u32, &'static str) -> MessageValue;
        serialize_tuple_struct(&'static str, usize) -> Foreign;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Foreign;
        serialize_map(Option<usize>) -> Foreign;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Foreign;
    }
}

macro_rules! elements {
    ($($name:ident)+) => {
        $(impl $name for ListBuilder {
            type Ok = MessageValue;
            type Error = FieldError;

            fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), FieldError> {
                if self.items.len() < self.builder.most {
                    self.items.push(value.serialize(self.builder)?);
                }
                Ok(())
            }

            fn end(self) -> Result<MessageValue, FieldError> {
                Ok(MessageValue::List(self.items))
            }
        })+
    };
}

elements! { SerializeSeq SerializeTuple }

impl SerializeStruct for FieldsBuilder {
    type Ok = MessageValue;
    type Error = FieldError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), FieldError> {
        if name != FILLER {
            self.fields.push((ros_name(name), value.serialize(self.builder)?));
        }
        Ok(())
    }

    fn end(self) -> Result<MessageValue, FieldError> {
        Ok(MessageValue::Fields(self.fields))
    }
}

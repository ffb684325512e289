//! Serializes responses with the field names of their definitions.
use super::fill::ros_name;
use serde::ser::{
    Impossible, Serialize, SerializeSeq, SerializeStruct, SerializeTuple, Serializer,
};

/// A message, or a value in it.
pub(super) struct NamedFields<'a, T: ?Sized>(pub(super) &'a T);

impl<T: Serialize + ?Sized> Serialize for NamedFields<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(NamingSerializer(serializer))
    }
}

/// Serializes the types that occur in messages.
struct NamingSerializer<S>(S);

macro_rules! delegate {
    ($($method:ident $type:ty;)+) => {
        $(fn $method(self, value: $type) -> Result<S::Ok, S::Error> {
            self.0.$method(value)
        })+
    };
}

/// The error for types of serde that do not occur in messages.
fn foreign<T, E: serde::ser::Error>() -> Result<T, E> {
    Err(E::custom("is of a type that ROS messages do not have"))
}

macro_rules! foreign {
    ($($method:ident ( $($argument:ty),* ) -> $result:ident;)+) => {
        $(fn $method(self, $(_: $argument),*) -> Result<Self::$result, S::Error> {
            foreign()
        })+
    };
}

impl<S: Serializer> Serializer for NamingSerializer<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = NamingSerializer<S::SerializeSeq>;
    type SerializeTuple = NamingSerializer<S::SerializeTuple>;
    type SerializeStruct = NamingSerializer<S::SerializeStruct>;
    type SerializeTupleStruct = Impossible<S::Ok, S::Error>;
    type SerializeTupleVariant = Impossible<S::Ok, S::Error>;
    type SerializeMap = Impossible<S::Ok, S::Error>;
    type SerializeStructVariant = Impossible<S::Ok, S::Error>;

    delegate! {
        serialize_bool bool;
        serialize_i8 i8;
        serialize_i16 i16;
        serialize_i32 i32;
        serialize_i64 i64;
        serialize_u8 u8;
        serialize_u16 u16;
        serialize_u32 u32;
        serialize_u64 u64;
        serialize_f32 f32;
        serialize_f64 f64;
        serialize_char char;
        serialize_str &str;
        serialize_bytes &[u8];
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.0.serialize_seq(len).map(NamingSerializer)
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        self.0.serialize_tuple(len).map(NamingSerializer)
    }

    fn serialize_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        self.0.serialize_struct(name, len).map(NamingSerializer)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &NamedFields(value))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<S::Ok, S::Error> {
        foreign()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<S::Ok, S::Error> {
        foreign()
    }

    foreign! {
        serialize_none() -> Ok;
        serialize_unit() -> Ok;
        serialize_unit_struct(&'static str) -> Ok;
        serialize_unit_variant(&'static str, u32, &'static str) -> Ok;
        serialize_tuple_struct(&'static str, usize) -> SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> SerializeTupleVariant;
        serialize_map(Option<usize>) -> SerializeMap;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> SerializeStructVariant;
    }
}

macro_rules! elements {
    ($($name:ident)+) => {
        $(impl<S: $name> $name for NamingSerializer<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
                self.0.serialize_element(&NamedFields(value))
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        })+
    };
}

elements! { SerializeSeq SerializeTuple }

impl<S: SerializeStruct> SerializeStruct for NamingSerializer<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), S::Error> {
        self.0.serialize_field(ros_name(name), &NamedFields(value))
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

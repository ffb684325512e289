//! Messages with a different value in every field, made by a deserialiser that counts.
use serde::{
    de::{self, DeserializeOwned, DeserializeSeed, SeqAccess, Visitor},
    forward_to_deserialize_any,
};

/// A message whose fields have values that depend on their position and on `seed`. Floats are exact in binary, string
/// and sequence lengths vary, so that alignment is exercised.
pub fn sample<M: DeserializeOwned>(seed: u32) -> M {
    let mut counter = Counter(seed);
    M::deserialize(&mut counter).expect("counting never fails")
}

struct Counter(u32);

impl Counter {
    fn next(&mut self) -> u32 {
        self.0 += 1;
        self.0
    }
}

macro_rules! number {
    ($($method:ident $visit:ident $convert:expr;)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            let convert: fn(u32) -> _ = $convert;
            visitor.$visit(convert(self.next()))
        })+
    };
}

impl<'de> de::Deserializer<'de> for &mut Counter {
    type Error = de::value::Error;

    number! {
        deserialize_bool visit_bool |n| n % 2 == 1;
        deserialize_i8 visit_i8 |n| -((n % 100) as i8);
        deserialize_i16 visit_i16 |n| -((n % 30_000) as i16);
        deserialize_i32 visit_i32 |n| -(n as i32) * 65_537;
        deserialize_i64 visit_i64 |n| -i64::from(n) * 4_294_967_311;
        deserialize_u8 visit_u8 |n| (n % 100) as u8;
        deserialize_u16 visit_u16 |n| (n % 60_000) as u16;
        deserialize_u32 visit_u32 |n| n * 65_537;
        deserialize_u64 visit_u64 |n| u64::from(n) * 4_294_967_311;
        deserialize_f32 visit_f32 |n| n as f32 + 0.5;
        deserialize_f64 visit_f64 |n| -f64::from(n) - 0.125;
        deserialize_str visit_string |n| format!("{n}{}", "~".repeat(n as usize % 9));
        deserialize_string visit_string |n| format!("{n}{}", "~".repeat(n as usize % 9));
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.deserialize_tuple(fields.len(), visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_seq(Elements { counter: self, left: length })
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        let length = self.next() as usize % 3 + 1;
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(de::Error::custom("no ROS field type"))
    }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf option unit unit_struct newtype_struct tuple_struct map enum identifier
        ignored_any
    }
}

struct Elements<'a> {
    counter: &'a mut Counter,
    left: usize,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = de::value::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Self::Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(&mut *self.counter).map(Some)
    }
}

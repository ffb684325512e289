//! Models that can be spawned: classes and styles of the renderer, by name or number.
use super::refusal::{Cause, Refusal};
use crate::config::did_you_mean;
use crate::wire::class_and_style;
use std::ops::RangeInclusive;

/// Beginning of every resource of this simulator.
pub(super) const SCHEME: &str = "rflysim://";
/// Factors of the style that documents, and numbers in use, have (docs/wire/traps.md, style-factor).
const FACTORS: [i32; 3] = [1000, 100_000, 1_000_000];
/// Classes that a style can be added to; a larger number goes to the renderer as it is.
const CLASSES: RangeInclusive<i32> = 1..=999;
/// Styles of class + 1000 x style, which has 16 bits.
const STYLES: RangeInclusive<i32> = 0..=64;
/// Styles of class + 1000000 x style. What is between could be meant either way.
const NEWER_STYLES: RangeInclusive<i32> = 100..=2147;
/// Factors of the size.
const SCALES: RangeInclusive<f32> = 0.01..=655.0;
/// Seconds that an object is kept without its client.
const KEPT: RangeInclusive<f64> = 0.1..=86_400.0;

/// Major kind of an entity, the numbers of `EntityCategory`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Category {
    /// Unspecified.
    #[default]
    Object = 0,
    /// A drone.
    Robot = 1,
    /// A person.
    Human = 2,
    /// Something else that moves.
    DynamicObject = 4,
    /// Something that stays where it is.
    StaticObject = 5,
}

impl Category {
    /// Returns the category with a number.
    pub fn from_number(number: u8) -> Option<Self> {
        let all = [Self::Object, Self::Robot, Self::Human, Self::DynamicObject, Self::StaticObject];
        all.into_iter().find(|category| *category as u8 == number)
    }
}

/// A model of the renderer with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Name, the word after `rflysim://`.
    pub name: String,
    /// Class id; above 999 the whole number that the renderer gets.
    pub class: i32,
    /// Style, the place in the renderer's list of the class.
    pub style: i32,
    /// Major kind.
    pub category: Category,
    /// For people.
    pub description: String,
    /// Length, width, height in m, if known.
    pub size: Option<[f64; 3]>,
}

/// The models of the renderer's own list: class, category, names in the order of their styles.
///
/// Source: vendor SDK 3.06, page `FullVersion3DModel`.
#[rustfmt::skip] // a table
const BUILT_IN: [(i32, Category, &[&str]); 11] = [
    (3, Category::Robot, &[
        "F450_Default", "Droneyee_QuadX330", "Droneyee_QuadX200", "DJI_Phantom_White", "DJI_Phantom_Red", "DJI_Phantom_Army",
        "AR_Drone_BlackGreen", "AR_Drone_Blue", "AR_Drone_Army", "Quad_Fold_Gray", "Quad_Fold_Army",
    ]),
    // The documents list these three by their numbers only.
    (5, Category::Robot, &["Hexarotor_5"]),
    (6, Category::Robot, &["Hexarotor_6"]),
    (30, Category::Human, &[
        "Dennis_Static", "Mei_Static", "Nathan_Static", "Nathan_Walking", "Nathan_Dancing", "Nathan_Standing", "Carla_Static",
        "Carla_Walking", "Carla_Standing", "Claudia_Static", "Claudia_Walking", "Claudia_Standing", "Eric_Static",
        "Eric_Walking", "Eric_Standing", "Manuel_Static", "Manuel_Walking", "Manuel_Standing", "Sophia_Static",
        "Sophia_Walking", "Sophia_Standing",
    ]),
    (40, Category::Object, &["Class_40"]),
    (50, Category::DynamicObject, &["Standard_Car_Blue"]),
    (60, Category::StaticObject, &[
        "Light_White", "Light_Red", "Light_Green", "Light_Blue", "Light_Purple", "Light_Yellow", "Light_Aqua",
        "Light_White_Strong", "Light_Red_Strong", "Light_Green_Strong", "Light_Blue_Strong", "Light_Purple_Strong",
        "Light_Yellow_Strong", "Light_Aqua_Strong", "Light_Dark",
    ]),
    (100, Category::Robot, &["Flying_Wing", "Fixed_Wing"]),
    (150, Category::StaticObject, &["Ring_Target_Blue", "Ring_Target_Green"]),
    (151, Category::StaticObject, &["Quad_Target_Red", "Quad_Target_Green", "Quad_Target_Blue"]),
    (152, Category::StaticObject, &["Sphere_Target_Red"]),
];

/// Returns the models that every renderer has.
pub(super) fn built_in_models() -> Vec<Model> {
    let of_class = |(class, category, names): &(i32, Category, &[&str])| {
        let (class, category) = (*class, *category);
        let styles = (0..).zip(names.iter());
        let model = |(style, name): (i32, &&str)| Model {
            name: (*name).to_owned(),
            class,
            style,
            category,
            description: format!("class {class}, style {style}"),
            size: None,
        };
        styles.map(model).collect::<Vec<_>>()
    };
    BUILT_IN.iter().flat_map(of_class).collect()
}

/// Major kind of a class.
pub(super) fn category_of(class: i32) -> Category {
    let known = BUILT_IN.iter().find(|(known, ..)| *known == class);
    known.map_or(Category::Object, |(_, category, _)| *category)
}

/// Whether a model is of the renderer's own list.
pub(super) fn is_built_in(model: &Model) -> bool {
    let of_class = BUILT_IN.iter().find(|(class, ..)| *class == model.class);
    of_class.is_some_and(|(_, _, names)| names.contains(&model.name.as_str()))
}

/// Whether a number is known for a style of a class.
pub(super) fn fits(class: i32, style: i32) -> bool {
    vehicle_type(class, style).is_some()
}

/// A parsed resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Class and style, as the renderer takes them.
    pub vehicle_type: i32,
    /// Beginning of a generated name.
    pub base: String,
    /// Major kind.
    pub category: Category,
    /// Factors of the size along the body's axes.
    pub scale: [f32; 3],
    /// The terrain decides the height.
    pub ground: bool,
    /// It is removed when nobody asks for its state or sets it for so long, in s.
    pub keep_alive: Option<f64>,
}

/// Reads a resource: `rflysim://3`, `rflysim://60?style=2`, `rflysim://Standard_Car_Blue?scale=2&ground=true`.
pub fn parse_resource(uri: &str, models: &[Model]) -> Result<Wanted, Refusal> {
    const RIGHT: &str = "such as rflysim://3, rflysim://60?style=2 or a name of GetSpawnables";
    if uri.is_empty() {
        let message =
            format!("no resource: entity_resource.uri must be a model of the renderer, {RIGHT}");
        return Err(Refusal::new(Cause::NoResource, message));
    }
    let Some(rest) = uri.strip_prefix(SCHEME) else {
        let message =
            format!("{uri:?} is no model of the renderer: it draws its own models only, {RIGHT}");
        return Err(Refusal::new(Cause::Format, message));
    };
    let parse = |message: String| Refusal::new(Cause::Parse, format!("{uri:?}: {message}"));
    let (word, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (class, mut style, base, category) = if word.bytes().all(|b| b.is_ascii_digit()) {
        let class = word.parse().ok().filter(|number| *number > 0);
        let class = class
            .ok_or_else(|| parse(format!("a class is a number from 1 to {}, {RIGHT}", i32::MAX)))?;
        let known = class_and_style(class).0;
        let known = models.iter().find(|model| model.class == known);
        let category = known.map_or(Category::Object, |model| model.category);
        (class, 0, format!("class{class}"), category)
    } else {
        let found = models.iter().find(|m| m.name.eq_ignore_ascii_case(word));
        let model = found.ok_or_else(|| {
            let hint = did_you_mean(word, models.iter().map(|model| model.name.as_str()));
            let message = format!("{uri:?}: no model is called {word:?}{hint} (GetSpawnables lists them, scene.file adds more)");
            Refusal::new(Cause::NotFound, message)
        })?;
        (model.class, model.style, model.name.clone(), model.category)
    };
    let (mut scale, mut ground, mut keep_alive, mut factor) = ([1.0; 3], false, None, None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        match key {
            "style" => {
                let number = value.parse().ok().filter(|number| *number >= 0);
                style = number.ok_or_else(|| parse(no_style(value)))?;
            }
            "factor" => {
                let number = value.parse().ok();
                factor = Some(number.filter(|n| FACTORS.contains(n)).ok_or_else(|| {
                    parse(format!("factor must be one of {FACTORS:?}, is {value:?}"))
                })?);
            }
            "scale" => {
                scale = scale_of(value).ok_or_else(|| {
                    let (least, most) = SCALES.into_inner();
                    parse(format!(
                        "scale must be one factor or three (x,y,z) from {least} to {most}, is {value:?}"
                    ))
                })?;
            }
            "ground" if matches!(value, "true" | "1") => ground = true,
            "ground" if matches!(value, "false" | "0") => ground = false,
            "ground" => return Err(parse(format!("ground must be true or false, is {value:?}"))),
            "keep_alive" => {
                let seconds = value.parse().ok().filter(|seconds| KEPT.contains(seconds));
                keep_alive = Some(seconds.ok_or_else(|| {
                    let (least, most) = KEPT.into_inner();
                    parse(format!(
                        "keep_alive must be a time from {least} to {most} s, is {value:?}"
                    ))
                })?);
            }
            _ => {
                let hint = did_you_mean(key, ["style", "factor", "scale", "ground", "keep_alive"]);
                return Err(parse(format!(
                    "unknown option {key:?}{hint} (the options are style, factor, scale, ground, keep_alive)"
                )));
            }
        }
    }
    let number = match factor {
        Some(factor) => with_factor(class, style, factor),
        None => vehicle_type(class, style),
    };
    let vehicle_type = number.ok_or_else(|| parse(no_style(&style.to_string())))?;
    Ok(Wanted { vehicle_type, base, category, scale, ground, keep_alive })
}

fn no_style(found: &str) -> String {
    let ((first, last), (from, to)) = (STYLES.into_inner(), NEWER_STYLES.into_inner());
    format!(
        "style must be a number from {first} to {last} (class + 1000 x style) or from {from} to {to} (class + 1000000 x style), and {first} \
         with a class above {}, is {found:?}; factor=100000 says otherwise (docs/wire/traps.md, style-factor)",
        CLASSES.end()
    )
}

fn vehicle_type(class: i32, style: i32) -> Option<i32> {
    match style {
        0 => Some(class),
        _ if !CLASSES.contains(&class) => None,
        _ if STYLES.contains(&style) => Some(class + 1000 * style),
        _ if NEWER_STYLES.contains(&style) => Some(class + 1_000_000 * style),
        _ => None,
    }
}

/// The number of a class below the factor, which would be read otherwise.
fn with_factor(class: i32, style: i32, factor: i32) -> Option<i32> {
    let styled = style.checked_mul(factor)?.checked_add(class)?;
    (class < factor).then_some(styled)
}

fn scale_of(text: &str) -> Option<[f32; 3]> {
    let factors: Option<Vec<f32>> = text.split(',').map(|word| word.parse().ok()).collect();
    let scale = match factors?[..] {
        [all] => [all; 3],
        [x, y, z] => [x, y, z],
        _ => return None,
    };
    check_scale(scale).ok()
}

/// Checks factors of the size.
pub(super) fn check_scale(scale: [f32; 3]) -> Result<[f32; 3], String> {
    let (least, most) = SCALES.into_inner();
    match scale.iter().all(|factor| SCALES.contains(factor)) {
        true => Ok(scale),
        false => Err(format!("scale must be from {least} to {most} along each axis, is {scale:?}")),
    }
}

//! Objects that the renderer drew from lines of a file: its own log of what was created by hand, or a script of a map.
use super::place::{Place, REACH_M};
use crate::config::Problems;
use crate::frames::{Attitude, Euler, Vector};

/// An object of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Created {
    /// Id, from 1.
    pub id: i32,
    /// Class and style, as the renderer takes them.
    pub vehicle_type: i32,
    /// Where it was put.
    pub place: Place,
}

/// Beginning of a line that creates an object; all other lines are commands, or clicked points.
const CREATE: &str = "CreateVehicle";
/// Objects of all files.
const MOST: usize = 4000;

impl Created {
    /// Reads `CreateVehicle,id,type,x,y,z,roll,pitch,yaw` (NED, m, rad); of several lines with one id the last counts.
    ///
    /// # Errors
    /// All lines that create something, but not what.
    pub fn read(file: &str, text: &str) -> Result<Vec<Self>, Problems> {
        let (mut created, mut problems) = (Vec::<Self>::new(), Problems::default());
        for (line, number) in text.lines().zip(1..) {
            let mut words = line.trim().trim_end_matches(';').split(',');
            let name = words.next().unwrap_or_default();
            if !name.trim().eq_ignore_ascii_case(CREATE) {
                continue;
            }
            match read(&words.collect::<Vec<_>>()) {
                Ok(object) => {
                    created.retain(|other| other.id != object.id);
                    created.push(object);
                }
                Err(why) => problems.push(format!("{file}: line {number}"), why),
            }
            if created.len() > MOST {
                problems.push(file, format!("creates more than {MOST} objects"));
                break;
            }
        }
        problems.or(created)
    }
}

fn read(words: &[&str]) -> Result<Created, String> {
    let [id, vehicle_type, numbers @ ..] = words else {
        return Err(wrong(words.len()));
    };
    let integer = |name: &str, word: &str| {
        let number = word.trim().parse().ok().filter(|number: &i32| *number > 0);
        number.ok_or_else(|| format!("{name} must be a number from 1, is {word:?}"))
    };
    let numbers: Vec<f64> = numbers
        .iter()
        .map(|word| match word.trim().parse::<f64>() {
            Ok(number) if number.abs() <= REACH_M => Ok(number),
            _ => Err(format!(
                "position and angles must be numbers within {REACH_M}, one is {word:?}"
            )),
        })
        .collect::<Result<_, _>>()?;
    let [x, y, z, roll, pitch, yaw] = numbers[..] else {
        return Err(wrong(words.len()));
    };
    Ok(Created {
        id: integer("the id", id)?,
        vehicle_type: integer("the type", vehicle_type)?,
        place: Place {
            position: Vector::new(x, y, z),
            attitude: Attitude::from_euler(Euler::new(roll, pitch, yaw)),
        },
    })
}

fn wrong(found: usize) -> String {
    format!("{CREATE} has 8 numbers: id, type, x, y, z, roll, pitch, yaw; this line has {found}")
}

//! Stencil values of the thermal camera.
use crate::support::golden;
use rfly_bridge::scene::{RADIANCE_CLASSES, RadianceClass, stencil_values};
use rfly_bridge::wire::parse_console_command;

#[test]
fn every_warm_class_gets_the_command_that_the_vendor_sends() {
    let classes = RADIANCE_CLASSES.map(|(name, temperature, emissivity, actor)| RadianceClass {
        name: name.to_owned(),
        temperature,
        emissivity,
        actor,
    });
    let values = stencil_values(&classes);
    let made = classes.iter().zip(values).map(|(class, value)| class.command(value));
    let sent = golden::load_one("ue4_send", "radiance_all").sent();
    let sent = sent.iter().map(|(_, bytes)| parse_console_command(bytes).unwrap().to_owned());
    assert_eq!(made.collect::<Vec<_>>(), sent.collect::<Vec<_>>());
}

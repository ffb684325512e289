//! What others publish or call below a vehicle's prefix and nobody listens to is named once, with the nearest name.
use rfly_bridge::node::{Endpoint, Unserved};

const TWIST: &str = "geometry_msgs/msg/Twist";

fn unserved() -> Unserved {
    Unserved::new(vec!["/mavros".to_owned(), "/uav1/mavros2".to_owned()])
}

#[test]
fn a_topic_of_another_type_is_named_once_with_the_right_type() {
    let mut unserved = unserved();
    let graph = [(Endpoint::Publisher, "/mavros/setpoint_velocity/cmd_vel", TWIST)];
    let said = unserved.search(graph);
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("geometry_msgs/msg/TwistStamped"), "{said:?}");
    assert_eq!(unserved.search(graph), Vec::<String>::new(), "said once");
    assert_eq!(unserved.found().count(), 1, "but still there");
    assert_eq!(unserved.search([]), Vec::<String>::new());
    assert_eq!(unserved.found().count(), 0, "until it is gone");
}

#[test]
fn unknown_names_get_the_nearest_one() {
    let mut unserved = unserved();
    let said = unserved.search([
        (Endpoint::Publisher, "/mavros/setpoint_positon/local", "geometry_msgs/msg/PoseStamped"),
        (Endpoint::Client, "/uav1/mavros2/cmd/arm", "mavros_msgs/srv/CommandBool"),
        (Endpoint::Client, "/mavros/set_mode", "std_srvs/srv/Trigger"),
    ]);
    assert_eq!(said.len(), 3, "{said:#?}");
    assert!(said[1].contains("did you mean \"setpoint_position/local\"?"), "{said:#?}");
    assert!(said[0].contains("mavros_msgs/srv/SetMode"), "{said:#?}");
    assert!(said[2].contains("no such service"), "{said:#?}");
}

#[test]
fn what_is_served_or_elsewhere_is_nobodys_business() {
    let mut unserved = unserved();
    let said = unserved.search([
        (Endpoint::Publisher, "/mavros/setpoint_velocity/cmd_vel_unstamped", TWIST),
        (Endpoint::Publisher, "/mavros/state", "mavros_msgs/msg/State"),
        (Endpoint::Publisher, "/mavros2/setpoint_velocity/cmd_vel", TWIST),
        (Endpoint::Publisher, "/cmd_vel", TWIST),
        (Endpoint::Client, "/mavros/cmd/arming", "mavros_msgs/srv/CommandBool"),
        (Endpoint::Client, "/spawn", "std_srvs/srv/Trigger"),
    ]);
    assert_eq!(said, Vec::<String>::new());
}

#[test]
fn a_flood_of_names_is_bounded() {
    let names: Vec<_> = (0..10_000).map(|i| format!("/mavros/flood{i}")).collect();
    let mut unserved = unserved();
    let said =
        unserved.search(names.iter().map(|name| (Endpoint::Publisher, name.as_str(), TWIST)));
    assert_eq!((said.len(), unserved.found().count()), (100, 100));
}

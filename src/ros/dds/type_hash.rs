//! Type hashes (REP 2011, RIHS01) of the message types that the bridge knows.
//!
//! Peers since ROS 2 Iron exchange them in USER_DATA; `ros2 topic info --verbose` shows them. A test recomputes each
//! from the message definitions.

/// SHA-256 of the type description, in hexadecimal; `None` for a type that is not in the table.
pub(super) fn of(type_name: &str) -> Option<&'static str> {
    let index = TABLE
        .binary_search_by_key(&type_name, |(name, _)| name)
        .ok()?;
    TABLE.get(index).map(|(_, hash)| *hash)
}

/// Sorted by name.
#[rustfmt::skip]
const TABLE: &[(&str, &str)] = &[
    ("builtin_interfaces/msg/Duration", "e8d009f659816f758b75334ee1a9ca5b5c0b859843261f14c7f937349599d93b"),
    ("builtin_interfaces/msg/Time", "b106235e25a4c5ed35098aa0a61a3ee9c9b18d197f398b0e4206cea9acf9c197"),
    ("diagnostic_msgs/msg/DiagnosticArray", "5a8a36efb05fb25070fa0fb3810290c0e6cd4862b54a8fb975a1ee8dc55a333e"),
    ("diagnostic_msgs/msg/DiagnosticStatus", "b0e3e692ea2d54a8af2f4ef1930e81556a2db55216b771f8a7d2724ed47bf0e4"),
    ("diagnostic_msgs/msg/KeyValue", "d68081eaa540288c5440753baecef0c4e16e81a5f78ad68902ded5100413bb42"),
    ("geometry_msgs/msg/Point", "6963084842a9b04494d6b2941d11444708d892da2f4b09843b9c43f42a7f6881"),
    ("geometry_msgs/msg/PointStamped", "4c0296af86e01e562e9e0405d138a01537247580076c58ea38d7923ac1045897"),
    ("geometry_msgs/msg/Pose", "d501954e9476cea2996984e812054b68026ae0bfae789d9a10b23daf35cc90fa"),
    ("geometry_msgs/msg/PoseStamped", "10f3786d7d40fd2b54367835614bff85d4ad3b5dab62bf8bca0cc232d73b4cd8"),
    ("geometry_msgs/msg/PoseWithCovariance", "9a7c0fd234b7f45c6098745ecccd773ca1085670e64107135397aee31c02e1bb"),
    ("geometry_msgs/msg/PoseWithCovarianceStamped", "26432f9803e43727d3c8f668d1fdb3c630f548af631e2f4e31382371bfea3b6e"),
    ("geometry_msgs/msg/Quaternion", "8a765f66778c8ff7c8ab94afcc590a2ed5325a1d9a076ffff38fbce36f458684"),
    ("geometry_msgs/msg/QuaternionStamped", "381add86c6c3160644d228ca342182c7fd6c7fab11c7a85ad817a9cc22dbac6e"),
    ("geometry_msgs/msg/Transform", "beb83fbe698636351461f6f35d1abb20010c43d55374d81bd041f1ba2581fddc"),
    ("geometry_msgs/msg/TransformStamped", "0a241f87d04668d94099cbb5ba11691d5ad32c2f29682e4eb5653424bd275206"),
    ("geometry_msgs/msg/Twist", "9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a"),
    ("geometry_msgs/msg/TwistStamped", "5f0fcd4f81d5d06ad9b4c4c63e3ea51b82d6ae4d0558f1d475229b1121db6f64"),
    ("geometry_msgs/msg/Vector3", "cc12fe83e4c02719f1ce8070bfd14aecd40f75a96696a67a2a1f37f7dbb0765d"),
    ("geometry_msgs/msg/Vector3Stamped", "d4829622288cbb443886e7ea94ea5671a3b1be6bab4ad04224432a65f7d7887a"),
    ("rcl_interfaces/msg/FloatingPointRange", "e6af23a23c177fee5f3075c8b1e435162a9b63c863d78c06017460b49684262d"),
    ("rcl_interfaces/msg/IntegerRange", "f7b7fdc0f65f07702e099218e13288c3963bcb9345bde78b560e6cd19800fc5a"),
    ("rcl_interfaces/msg/ListParametersResult", "237ae3428413dcbcfb452b510c42355f3a2b021dc091afa3e18526d57022f1cd"),
    ("rcl_interfaces/msg/Log", "e28ce254ca8abc06abf92773b74602cdbf116ed34fbaf294fb9f81da9f318eac"),
    ("rcl_interfaces/msg/Parameter", "ddfe6442cffc462317adb5c92536a7b6dd55858c5c3e1e328165a6b73c2831af"),
    ("rcl_interfaces/msg/ParameterDescriptor", "52175dbfda6c51153101d33d2a9da05743f66f02d5ab2ca9ec4709b46b73d704"),
    ("rcl_interfaces/msg/ParameterEvent", "043e627780fcad87a22d225bc2a037361dba713fca6a6b9f4b869a5aa0393204"),
    ("rcl_interfaces/msg/ParameterValue", "115fc089a387e23c7ecd3525c9189c379109119d6ab82e8dfbde0fdf6a7f9b68"),
    ("rcl_interfaces/msg/SetParametersResult", "cfcc0fb0371ee5159b403960ef4300f8f9d2f1fd6117c8666b7f9654d528a9b1"),
    ("rcl_interfaces/srv/DescribeParameters_Request", "05dd1c2bc87dec2627105c8070d6f9725c781a4f2ab852975bf105462b82b644"),
    ("rcl_interfaces/srv/DescribeParameters_Response", "ad6747319613c6131589e062e095b469a46cc764f7d0f12a001a49e6cd893995"),
    ("rcl_interfaces/srv/GetParameterTypes_Request", "87d7ec5ef545d4daa289d500025d31fb2437bc8b8365ca367161c4dac4be33fd"),
    ("rcl_interfaces/srv/GetParameterTypes_Response", "ac1335dce67c478e669434f6ac2fbff34fcd529580f272d3006785ba8b54e47f"),
    ("rcl_interfaces/srv/GetParameters_Request", "135a9e1c3d7cebef792f6687d7ddf99949b21a0bd9a320d863a9110a3f5cf4d6"),
    ("rcl_interfaces/srv/GetParameters_Response", "9fa773b46e39cc5d02db6224d8fd520bb9caeeffc2b27c96c1e59431baba9f2a"),
    ("rcl_interfaces/srv/ListParameters_Request", "a1b0b5d6b967a5b8ac5bc8563c3ea678f349e312a6a4967227c5a96bc5ce38df"),
    ("rcl_interfaces/srv/ListParameters_Response", "31b937b82de3612426be79f231e386259f97e8dc843e3f2845288b4bfa296bdd"),
    ("rcl_interfaces/srv/SetParametersAtomically_Request", "db0bd950ed5ed867a0e90b225e44dea382d762c0762ff3e0ee842190042a59e5"),
    ("rcl_interfaces/srv/SetParametersAtomically_Response", "31b1a38c5b0b9d893ee24da45f69638f4561c78461d82d52750f429b534502b8"),
    ("rcl_interfaces/srv/SetParameters_Request", "130d46386b7e84ea9ecf60608a4d83cbe5e5cb7c6cc5b712b7a4e3a6c254e932"),
    ("rcl_interfaces/srv/SetParameters_Response", "7a0e8140a0b8d98308fa81a5403a766e610af29a239caf54b7553227906fc266"),
    ("rosgraph_msgs/msg/Clock", "692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564"),
    ("sensor_msgs/msg/CameraInfo", "b3dfd68ff46c9d56c80fd3bd4ed22c7a4ddce8c8348f2f59c299e73118e7e275"),
    ("sensor_msgs/msg/CompressedImage", "15640771531571185e2efc8a100baf923961a4d15d5569652e6cb6691e8e371a"),
    ("sensor_msgs/msg/Image", "d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47"),
    ("sensor_msgs/msg/Imu", "7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b"),
    ("sensor_msgs/msg/NavSatFix", "62223ab3fe210a15976021da7afddc9e200dc9ec75231c1b6a557fc598a65404"),
    ("sensor_msgs/msg/PointCloud2", "9198cabf7da3796ae6fe19c4cb3bdd3525492988c70522628af5daa124bae2b5"),
    ("sensor_msgs/msg/PointField", "5c6a4750728c2bcfbbf7037225b20b02d4429634732146b742dee1726637ef01"),
    ("sensor_msgs/msg/Range", "b42b62562e93cbfe9d42b82fe5994dfa3d63d7d5c90a317981703f7388adff3a"),
    ("sensor_msgs/msg/RegionOfInterest", "ad16bcba5f9131dcdba6fbded19f726f5440e3c513b4fb586dd3027eeed8abb1"),
    ("std_msgs/msg/Bool", "feb91e995ff9ebd09c0cb3d2aed18b11077585839fb5db80193b62d74528f6c9"),
    ("std_msgs/msg/ColorRGBA", "77a7a5b9ae477306097665106e0413ba74440245b1f3d0c6d6405fe5c7813fe8"),
    ("std_msgs/msg/Float32", "7170d3d8f841f7be3172ce5f4f59f3a4d7f63b0447e8b33327601ad64d83d6e2"),
    ("std_msgs/msg/Float64", "705ba9c3d1a09df43737eb67095534de36fd426c0587779bda2bc51fe790182a"),
    ("std_msgs/msg/Header", "f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01"),
    ("std_msgs/msg/Int32", "b6578ded3c58c626cfe8d1a6fb6e04f706f97e9f03d2727c9ff4e74b1cef0deb"),
    ("std_msgs/msg/Int64", "8cd1048c2f186b6bd9a92472dc1ce51723c0833a221e2b7aecfff111774f4b49"),
    ("std_msgs/msg/String", "df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"),
    ("std_msgs/msg/UInt16", "08a406e4b022bc22e907f985d6a9e9dd1d4fbecae573549cf49350113e7757b1"),
    ("std_msgs/msg/UInt32", "a5c874829b752bc5fa190024b0ad76f578cc278271e855c7d02a818b3516fb4a"),
    ("std_msgs/msg/UInt64", "fbdc52018fc13755dce18024d1a671c856aa8b4aaf63adfb095b608f98e8c943"),
    ("std_msgs/msg/UInt8", "6138bd83d8c3569cb80a667db03cfc1629f529fee79d944c39c34e352e72f010"),
    ("tf2_msgs/msg/TFMessage", "e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"),
    ("vision_msgs/msg/BoundingBox2D", "008eacbb0cf8f26e83795547bed013eec3675485ef386ec056d80eaaf1c1ce2f"),
    ("vision_msgs/msg/BoundingBox3D", "bbb73a65c163d7f9bb29009c7bde9f7faa576bd2d23299c4511d19230dab4698"),
    ("vision_msgs/msg/Detection2D", "0d12b69df5c593b3455b7346fac8205437a7d4bcb09b9e0e0b2dde787ded38ea"),
    ("vision_msgs/msg/Detection2DArray", "214274120007f4a683866481336b70310268cfa107aebe9d594a6acf75bda968"),
    ("vision_msgs/msg/Detection3D", "ddd703be132ab0b69d33121f1bb034132bfbb3b0ac5f9fb1516005ba1c8a265b"),
    ("vision_msgs/msg/Detection3DArray", "793f5eab9595ac1c0da07873cc859db42eae51f0ee76056db8562515d830e018"),
    ("vision_msgs/msg/ObjectHypothesis", "51da43cec11c01957a64d1e05a24acd18aae7745ec30b74348ad5f6d634f7f90"),
    ("vision_msgs/msg/ObjectHypothesisWithPose", "41c12344c0396c48b81df12467c192d99b2a0eb1463c5c37194e4223251c80bc"),
];

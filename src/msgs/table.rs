//! Every message and service type, once: from these rows follow the implementations of [`Message`](super::Message) and
//! [`Service`](super::Service), the lists, the hashes, and the tests of each type.
//!
//! The number is the type hash (REP 2011, RIHS01), the SHA-256 of the type description, which peers since ROS 2 Iron
//! exchange in USER_DATA; `ros2 topic info --verbose` shows it. A test recomputes each from the message definitions.

/// Passes an item or a statement on unless its package may lack in a workspace and does (`build.rs`).
#[doc(hidden)]
#[macro_export]
macro_rules! where_built {
    (grid_map_msgs $($code:tt)+) => { #[cfg(has_grid_map_msgs)] $($code)+ };
    (livox_ros_driver2 $($code:tt)+) => { #[cfg(has_livox_ros_driver2)] $($code)+ };
    (rfly_bridge_msgs $($code:tt)+) => { #[cfg(has_rfly_bridge_msgs)] $($code)+ };
    (simulation_interfaces $($code:tt)+) => { #[cfg(has_simulation_interfaces)] $($code)+ };
    (visualization_msgs $($code:tt)+) => { #[cfg(has_visualization_msgs)] $($code)+ };
    ($package:ident $($code:tt)+) => { $($code)+ };
}

/// Calls a macro with every message: its package, its name, `header` if it begins with a `std_msgs/Header`, its hash.
#[doc(hidden)]
#[macro_export]
macro_rules! every_message_type {
    ([$($then:tt)*] $($argument:tt)*) => {
        $($then)*! { $($argument)* @rows
            action_msgs {
                GoalInfo "6398fe763154554353930716b225947f93b672f0fb2e49fdd01bb7a7e37933e9";
                GoalStatus "32f4cfd717735d17657e1178f24431c1ce996c878c515230f6c5b3476819dbb9";
                GoalStatusArray "6c1684b00f177d37438febe6e709fc4e2b0d4248dca4854946f9ed8b30cda83e";
            }
            builtin_interfaces {
                Duration "e8d009f659816f758b75334ee1a9ca5b5c0b859843261f14c7f937349599d93b";
                Time "b106235e25a4c5ed35098aa0a61a3ee9c9b18d197f398b0e4206cea9acf9c197";
            }
            diagnostic_msgs {
                DiagnosticArray header "5a8a36efb05fb25070fa0fb3810290c0e6cd4862b54a8fb975a1ee8dc55a333e";
                DiagnosticStatus "b0e3e692ea2d54a8af2f4ef1930e81556a2db55216b771f8a7d2724ed47bf0e4";
                KeyValue "d68081eaa540288c5440753baecef0c4e16e81a5f78ad68902ded5100413bb42";
            }
            geographic_msgs {
                GeoPoint "602c647cf87bbe95a0231b459b5ac30051875d07c0c740b31ad7a8c4662b971e";
                GeoPointStamped header "ebe562b30db6fadf7b136d11c0c5bcccf393d24fa48874346bed64e58b6dedcf";
                GeoPose "8052786d7663e225e38926f7d05716046c931572c25e557d4f70dca55b972626";
                GeoPoseStamped header "a8e603c050fa992a74283bb462a96fe9d2b151b7a67b14d77250ed7cb4ed96b7";
            }
            geometry_msgs {
                Accel "dc448243ded9b1fcbcca24aba0c22f013dae06c354ba2d849571c0a2a3f57ca0";
                AccelStamped header "ef1df9eabae0a708cc049a061ebcddc4e2a5f745730100ba680e086a9698b165";
                AccelWithCovariance "230d51bd53bc36f260574e73b42941cefe44684753480b6fc330c032c5db5997";
                AccelWithCovarianceStamped header "61c9ad8928e71dd95ce791b2f02809ee2a0bbcc42cd0e4047fd00a822a08e444";
                Point "6963084842a9b04494d6b2941d11444708d892da2f4b09843b9c43f42a7f6881";
                PointStamped header "4c0296af86e01e562e9e0405d138a01537247580076c58ea38d7923ac1045897";
                Pose "d501954e9476cea2996984e812054b68026ae0bfae789d9a10b23daf35cc90fa";
                PoseStamped header "10f3786d7d40fd2b54367835614bff85d4ad3b5dab62bf8bca0cc232d73b4cd8";
                PoseWithCovariance "9a7c0fd234b7f45c6098745ecccd773ca1085670e64107135397aee31c02e1bb";
                PoseWithCovarianceStamped header "26432f9803e43727d3c8f668d1fdb3c630f548af631e2f4e31382371bfea3b6e";
                Quaternion "8a765f66778c8ff7c8ab94afcc590a2ed5325a1d9a076ffff38fbce36f458684";
                QuaternionStamped header "381add86c6c3160644d228ca342182c7fd6c7fab11c7a85ad817a9cc22dbac6e";
                Transform "beb83fbe698636351461f6f35d1abb20010c43d55374d81bd041f1ba2581fddc";
                TransformStamped header "0a241f87d04668d94099cbb5ba11691d5ad32c2f29682e4eb5653424bd275206";
                Twist "9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a";
                TwistStamped header "5f0fcd4f81d5d06ad9b4c4c63e3ea51b82d6ae4d0558f1d475229b1121db6f64";
                TwistWithCovariance "49f574f033f095d8b6cd1beaca5ca7925e296e84af1716d16c89d38b059c8c18";
                TwistWithCovarianceStamped header "77b67434531e6529b7a0091357b186b6ebdb17fd9ffd3e0c7ce9d3fb11a44563";
                Vector3 "cc12fe83e4c02719f1ce8070bfd14aecd40f75a96696a67a2a1f37f7dbb0765d";
                Vector3Stamped header "d4829622288cbb443886e7ea94ea5671a3b1be6bab4ad04224432a65f7d7887a";
            }
            grid_map_msgs {
                GridMap header "343b0e72887541beda6b035cc053f2d6fffaad9d6dcb2773c15a808dfca31fde";
                GridMapInfo "0a36d6b5bc9af8463d1d5a5008ef9fcac0c1373ba090f80c3594e47cc565b745";
            }
            livox_ros_driver2 {
                CustomMsg header "2eb17e5e35bf5a2d6cd079f3c57f33abf95e5bf7d71b42cddc05daace73d815a";
                CustomPoint "3289ac5e30c215e055e9b48fe0df5c2fb916abbb0c3a75315071bb7d735067f5";
            }
            mavros_msgs {
                ActuatorControl header "88d4e594f7cff59e84a1c4dd3b03b28888a9fe5d9f29481d619ca055a0edd083";
                Altitude header "a6fe3b951093136a7ae26c7ddbcb2814b7910a333d169058859a0163bfcda037";
                AttitudeTarget header "4b73630cb236d7e19f68f2366a565145460c507603df32bc3ff209554b88fe10";
                CompanionProcessStatus header "85998eb16eb4fbc2cc289db87f62670de60fd1783ea072ae8817f65027c715a3";
                DebugValue header "ccf50dddcc8e735bf93f8db0b9a181f7eb24c8cc45f29ee3188829bf0149d7c9";
                EstimatorStatus header "6fb74b9c2ba0434ca7fba66236fbd7a9653dae0d0b641daffa4ecae8c450df45";
                ExtendedState header "19ff8d10f52aacba28d9879707d3195c9a9eff3af1ba2f7e40b55eea734e7b20";
                GPSRAW header "4b28d7cc90fca641477ac030408be50b691b350a1ff03a2750ab49b4be651238";
                GlobalPositionTarget header "0c324666a1e5fb904d7ad3f6ad862e83d6b9dd5d0937afe2a62fd972f3607a69";
                HilActuatorControls header "23e4553f5ace8ef52e920f49a11ecf3b53ee5404d88bf4f19de8b3d883a649fb";
                HomePosition header "d53f380680238e023e7fb96440b9094c55caa32c010629893eb51c1ee73e81d8";
                ManualControl header "0e26bd225bdffe0ab6ef3ebc2d43d06d8691dc23bb03a133bca8d8616cc2ac91";
                Mavlink header "b5fc2a55c47b456c5fa1f0229a2a1c35bee6fc92ef1c9d26fbb583dcd0f28cee";
                MountControl header "2896d1671afa97fc2e4639e1b6a5f97c47545651f1eb7264b57db2398a5613b7";
                NavControllerOutput header "2c3fba471434b04edfac72630ac6fc3e8fe03b673829ed71be657736c1ae7215";
                OverrideRCIn "e2fe61f060e059d9d2e0b4ed38d5779d88a365969d7d270e5e934c72c3637631";
                ParamEvent header "da7e2778de159a9eb96f6cb915fd01e5603080fc485ab7398f365cd69b0d3c54";
                ParamValue "e25123784f6ae40cd0b3bf4ef3e5c4daf5af9fd38f0dfa2c18172b78ae7c078f";
                PositionTarget header "594c39cea4484f1cb007adf04b29a78bae77f29358c974ea5e849542ed168303";
                RCIn header "3dcc8e91d63f42d512ed29e767fc89fba216634f354c42467163a2b6f68f857e";
                RCOut header "76cdc9c90c9d848319fc532c31e272a72dbf7b7c8737a83ee237c38d85037e22";
                State header "11ba7686163d22281871f1cb42557e8957407469b0be813bdb1a8922c66e3131";
                StatusEvent header "12307b602b577910b0a80f44c84e63ba13d6823f59fba574a1a4e691ae722687";
                StatusText header "d3420a07bd2d933d9c53b51d04ec59dc61a0ed04c7110a51996795a3cfde68b2";
                SysStatus header "ebe10b5bec410317a3c59430fda604262624468a2067302f27f8490993720b10";
                Thrust header "649859ece9614d18b778af1e9d671a45ea1ab0b84242a3c56de7a7347c089316";
                TimesyncStatus header "ff789b6b685c0d029b0f66dd5df995b917a6511e9372c83e04a65b7c721e3d3c";
                VehicleInfo header "a2d02e74107cc47dd88892d41e9a843676e6e50b206c3bf83f1389a60cfa9637";
                VfrHud header "8a121968bf046a1f0f3e5074c8fed9db9ca5b6a8c0a2ee44c09c0f6a5fb88e8f";
                Vibration header "895aea225fc0b53667c85acbc00ee1189e34aa72f29616d88b0718d5bb563dc4";
                Waypoint "1c0e12bd70ab8a12a5d6f2e6f9d9bb3aea0860d02bccc30ca8d9d6f5f4f30b94";
                WaypointList "fdd46486d81956d4d9700fd279bcdffb599465f7fed3351a24f34b9ab721aeaf";
                WaypointReached header "fe8d859bbb67edffb007b4047ca56da9f12f86d72c32b79acc0e1cbfd6fa2463";
            }
            nav_msgs {
                MapMetaData "2772d4b2000ef2b35dbaeb80fd3946c1369f817fb4f75677d916d27c17d763c8";
                OccupancyGrid header "8d348150c12913a31ee0ec170fbf25089e4745d17035792a1ba94d6f0bc0cfc7";
                Odometry header "3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0";
                Path header "1957a5bb3cee5da65c4e52e52b65a93df227efce4c20f8458b36e73066ca334b";
            }
            rcl_interfaces {
                FloatingPointRange "e6af23a23c177fee5f3075c8b1e435162a9b63c863d78c06017460b49684262d";
                IntegerRange "f7b7fdc0f65f07702e099218e13288c3963bcb9345bde78b560e6cd19800fc5a";
                ListParametersResult "237ae3428413dcbcfb452b510c42355f3a2b021dc091afa3e18526d57022f1cd";
                Log "e28ce254ca8abc06abf92773b74602cdbf116ed34fbaf294fb9f81da9f318eac";
                Parameter "ddfe6442cffc462317adb5c92536a7b6dd55858c5c3e1e328165a6b73c2831af";
                ParameterDescriptor "52175dbfda6c51153101d33d2a9da05743f66f02d5ab2ca9ec4709b46b73d704";
                ParameterEvent "043e627780fcad87a22d225bc2a037361dba713fca6a6b9f4b869a5aa0393204";
                ParameterValue "115fc089a387e23c7ecd3525c9189c379109119d6ab82e8dfbde0fdf6a7f9b68";
                SetParametersResult "cfcc0fb0371ee5159b403960ef4300f8f9d2f1fd6117c8666b7f9654d528a9b1";
            }
            rosgraph_msgs {
                Clock "692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564";
            }
            sensor_msgs {
                BatteryState header "4bee5dfce981c98faa6828b868307a0a73f992ed0789f374ee96c8f840e69741";
                CameraInfo header "b3dfd68ff46c9d56c80fd3bd4ed22c7a4ddce8c8348f2f59c299e73118e7e275";
                CompressedImage header "15640771531571185e2efc8a100baf923961a4d15d5569652e6cb6691e8e371a";
                FluidPressure header "22dfb2b145a0bd5a31a1ac3882a1b32148b51d9b2f3bab250290d66f3595bc32";
                Image header "d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47";
                Imu header "7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b";
                JointState header "a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e";
                LaserScan header "64c191398013af96509d518dac71d5164f9382553fce5c1f8cca5be7924bd828";
                MagneticField header "e80f32f56a20486c9923008fc1a1db07bbb273cbbf6a5b3bfa00835ee00e4dff";
                NavSatFix header "62223ab3fe210a15976021da7afddc9e200dc9ec75231c1b6a557fc598a65404";
                NavSatStatus "d1ed3befa628e09571bd273b888ba1c1fd187c9a5e0006b385d7e5e9095a3204";
                PointCloud2 header "9198cabf7da3796ae6fe19c4cb3bdd3525492988c70522628af5daa124bae2b5";
                PointField "5c6a4750728c2bcfbbf7037225b20b02d4429634732146b742dee1726637ef01";
                Range header "b42b62562e93cbfe9d42b82fe5994dfa3d63d7d5c90a317981703f7388adff3a";
                RegionOfInterest "ad16bcba5f9131dcdba6fbded19f726f5440e3c513b4fb586dd3027eeed8abb1";
                Temperature header "72514a14126ab9f8a9abec974c78e5610a367b59db5da355ff1fb982d5bad4b8";
                TimeReference header "dd66e84cf40bbb5d5a40472e6ecf2675a031334d4c426abdb2ad41801a8efc99";
            }
            simulation_interfaces {
                Bounds "e8624fe51f0f5548197542697d924c5699ac7198f1e4c68e50c3ca2af73f5b3f";
                EntityCategory "43bdf7933fddf75f6970f7a8fe7078524355d821d390b3954bb46ac36c03dfe1";
                EntityFilters "8e7b12e8ea062f14c55de4877221fe1b7cd9749665a7ad8a4ab855fc4b148303";
                EntityInfo "3b9a2e7fa00f9a59d325b6e47904044c421561a385682027c7fc06c359806319";
                EntityState header "2e0464a85eb80a939025075d6c20761eca6a4cb9d6baf2c0ba373467c8b598d0";
                NamedPose "b32da2a039b1840f605ec025b7991a18efacac662fac272818d1ae6e2b12bc27";
                Resource "2bb1939cf80f8d2f284afba53cbec60b5ff33759bd39b714128ea8867a34c51a";
                Result "cf43a306adff3337a0a47143d8f5689933bc70a30478f13b077dc1fe3bc5ad17";
                SimulationState "bb9f87ccdd98fba113052a512d9801e84ce732d0a2b3c2b0cb281828de36e415";
                SimulatorFeatures "8b101c8529bc0ea3dcf056078254768f39832b9ef0adaf93bd5cea96c0de3305";
                SpawnEntity "94a349a865ccf673c18c080520299c88c3d8d5f4842ecf1482d6c997ac4b69f9";
                SpawnResult "dbc277304b6c24bfb2a631cea8f52e2b005d583ec0a6c86b11613f5ce6486da1";
                Spawnable "8675aa686f0df1ed7874a6ec210fdce1ac1c07f4e49fc26ec7fb6fe729f6772e";
                TagsFilter "5c3efc51e8ed04c266c09cb4691ec95b964cd410558e01d8c83646b038826b45";
                WorldResource "e3b65ecf904b9b115673e4a343c6aa3d28c19e185a71228faa64b783afcf2403";
            }
            std_msgs {
                Bool "feb91e995ff9ebd09c0cb3d2aed18b11077585839fb5db80193b62d74528f6c9";
                ColorRGBA "77a7a5b9ae477306097665106e0413ba74440245b1f3d0c6d6405fe5c7813fe8";
                Float32 "7170d3d8f841f7be3172ce5f4f59f3a4d7f63b0447e8b33327601ad64d83d6e2";
                Float64 "705ba9c3d1a09df43737eb67095534de36fd426c0587779bda2bc51fe790182a";
                Header "f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01";
                Int32 "b6578ded3c58c626cfe8d1a6fb6e04f706f97e9f03d2727c9ff4e74b1cef0deb";
                Int64 "8cd1048c2f186b6bd9a92472dc1ce51723c0833a221e2b7aecfff111774f4b49";
                String "df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
                UInt8 "6138bd83d8c3569cb80a667db03cfc1629f529fee79d944c39c34e352e72f010";
                UInt16 "08a406e4b022bc22e907f985d6a9e9dd1d4fbecae573549cf49350113e7757b1";
                UInt32 "a5c874829b752bc5fa190024b0ad76f578cc278271e855c7d02a818b3516fb4a";
                UInt64 "fbdc52018fc13755dce18024d1a671c856aa8b4aaf63adfb095b608f98e8c943";
            }
            tf2_msgs {
                TFMessage "e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087";
            }
            trajectory_msgs {
                MultiDOFJointTrajectory header "3a18fd095292a65cfde8833c72985a30af981f3ec44494655c6267262b443a4a";
                MultiDOFJointTrajectoryPoint "6ada1085b5ee64eaa069b074968e69f0e27c8c5e6f5bb0586dd1c834ef0e32b8";
            }
            unique_identifier_msgs {
                UUID "1b8e8aca958cbea28fe6ef60bf6c19b683c97a9ef60bb34752067d0f2f7ab437";
            }
            vision_msgs {
                BoundingBox2D "008eacbb0cf8f26e83795547bed013eec3675485ef386ec056d80eaaf1c1ce2f";
                BoundingBox3D "bbb73a65c163d7f9bb29009c7bde9f7faa576bd2d23299c4511d19230dab4698";
                Detection2D header "0d12b69df5c593b3455b7346fac8205437a7d4bcb09b9e0e0b2dde787ded38ea";
                Detection2DArray header "214274120007f4a683866481336b70310268cfa107aebe9d594a6acf75bda968";
                Detection3D header "ddd703be132ab0b69d33121f1bb034132bfbb3b0ac5f9fb1516005ba1c8a265b";
                Detection3DArray header "793f5eab9595ac1c0da07873cc859db42eae51f0ee76056db8562515d830e018";
                ObjectHypothesis "51da43cec11c01957a64d1e05a24acd18aae7745ec30b74348ad5f6d634f7f90";
                ObjectHypothesisWithPose "41c12344c0396c48b81df12467c192d99b2a0eb1463c5c37194e4223251c80bc";
            }
            visualization_msgs {
                Marker header "45b13ccf791f225962bf74e746f9644518855d783a6f42ba0cc14fde2b4f3ce0";
                MarkerArray "86cb8800b6fb05b5eff1abd7a56f62a5641d3ae9a1c29e78e67e704f1d067dcf";
            }
            rfly_bridge_msgs {
                ActiveFault "c0b4f44b5a944ebf8a9f9c447ddea459e352792ac3f928ab512ad96c68cd5d43";
                ActiveFaults header "c4199622a88518a3b505382c2ab14a58ac0e63f580d039999d1d5d5dc60f68d0";
                Attachment "ba4de9e7ecde486e8c53dae5715abb7c1c85432fdd64a2589caecaf9c8cc29a2";
                BridgeStats header "d08ea28d7d852e1bbedfeeef81554f036516d39e3fda81d64f989ce3f43cb0ab";
                CameraReport header "3981294f4f80c6bf0ac0068ea6b7eecb58d8f7b52c23a6e815659e29b2a601ee";
                ClockStats "a898607a684a6f0ac3bd70993c89eb6bbdaabf5160362907420356761374b220";
                Collision header "3c0eb50bda22cd21c2882521e058b14ab016f316c2505e8de4f608b63e6c1d4b";
                CustomData "771e339a5685ca2c245f5b2622a5185cad648b8786154c7c636323ab554fe8ed";
                DropCount "2cfce40bf6281542fce7c68e54f69308ab779162136a7a4a3e6dcde052f345a6";
                EntityStates header "0cafdc7a53e57fdd99bd3a82a63df77de8c2ac0c54ba3860fa215bcb12c9faa1";
                FleetReady header "d3ac23deb688b1b64e8b1f2bfdc2ada9e1dfce724de9ac9b76d62a458b3ad47b";
                ModelCommand "fcde4dda5a2474d6b812085e22d7c462b213885abe6c4a06b16293008970365a";
                ModelDoubles "ed9524cb33b40cc90d2e0ad39717e07bf4856ec6d88669131201c34bf0291a6d";
                ModelInputs "2868b8e7adab75fa9edf4ab5087f09e1d97db117c53e41cb1187cb0eaa9cdcf9";
                ModelOutput header "eaa9a8cad4cf63f088b2643793a75792df13a76fce5191adb2b56d027552ab7e";
                ModelParameters "c15e97844f962af92dbde7dde4658c8e733b1fa7a2c43aa9949120b0e9fb5c71";
                ModelRays "a968a0bd093555c9ec3338ebe34ddb6ff5cb076f32ee722ae953bd288e288892";
                ModelUorb "ab8c757a19da72d267cba87a747c88de9c98dd18e95772b4c56f4a5b098268f3";
                ModelValues "3321ff495b413eca7fa2845478ca58e0f3a5f5490d915c31a6266dc946afe49d";
                NetSimData "78bf9eec013c9a0625ae83ba4f205d05f16df9e7243d5924e81bc74b48830dd9";
                NetSimRequest "6acfc6527ba1c2cb61ba36bc773ede1eb70bcf5b1db4324a7c6e907146a27620";
                NetSimState "f187baac1470aae333fa0cbffc244609ef52bac6f22ffb3f951f3eb38e81c187";
                SourceStats "c281e46ea4ecec746b11e7560de422946f15a42f0a7d69db1dea4926bec62ed4";
                ThermalClass "503a85d05b59d31f71590a59b3081ce4b9d4a918da921b4a3c31257bae5d0213";
                VehicleReady "bc9cdfb5a9d771716175ae7023331a0898b7528e1e0f9d6c28272c2a1121f24b";
                VehicleReport header "d0fcaefb3095e5841d1c22b4ee40d27d1de73ea2b0186221829b86fe321bf92b";
            }
        }
    };
}

/// Calls a macro with every service: its package, its name, the hashes of its request and of its response.
#[doc(hidden)]
#[macro_export]
macro_rules! every_service_type {
    ([$($then:tt)*] $($argument:tt)*) => {
        $($then)*! { $($argument)* @rows
            action_msgs {
                CancelGoal "3d3c84653c1f96918086887e1dcb236faec88b81a5b14fd4cf4840065bcdf8af" "35e682cf3f510e83c70a82a4aac888496dedee56773bf9d8e5e0aa81f9e1c960";
            }
            mavros_msgs {
                CommandAck "ac58a2a4ae20578d65ac3f427d229647822daa260ca973b742a3bb62898d8c58" "0d90a701d446ddb83a79e24755be45be4399c4fcb88ec578801c7d044f6d17f9";
                CommandBool "983e93fca15a6cf12689a4ef28a10bafbe576a984f5908bf4da70af8936b61c5" "5eec1cc043adbaf7fc28a44802c27fb8d34018e19ac305d9357b4ec1de53b38c";
                CommandHome "66a142f93a7e22e3665c40c63283c6c538813c8060128d09b4a432186d8520ea" "73b5d6aec0eaf54f78880b292bc11bd46ff587759c624b214b3e92da6591eaf3";
                CommandInt "3465ddd62a63cd44d8437c0b382b02f16e32b3711b6d88690441469b7b3c6fa9" "df486f9a8daf71898cc694e9f458021ae300339b4adf8976bb188bce8621936e";
                CommandLong "eebaa1fff53e8b0bf64f1fce081863be93219bf7002d5e78bc55d8028c335cb9" "b3b6fa1542a9e00ec2b67028f589f1d001b88954399053b5613ebdbe6e7ea45b";
                CommandTOL "1951417193611bfb7fb13a244647476c2180ec1f8c80a78aa59b675612e3822e" "c4ea3bf80080e60248aa26ca5ccdabc7ba20c383cdb06b5497bb46ffa45f8f5b";
                CommandTOLLocal "b4a94bcdf2530ebabb695c9017d7f89d0b3087d0279519d2b84fa54aa03559bc" "56acfd17de08bf9bcf5bd5e0c895eb241fe082b721a77594b30bb93591a20215";
                CommandTriggerControl "e85c726b66677f1f7b5883c6b7559378707a984411bafc7cd928154e9e7f9526" "512571cb39f1a91bbabe2f62a1ac9d2d80ea3c034ee85e0f4b5b60a920b69d7b";
                CommandTriggerInterval "45a64346c1407f7d41f10a1a42bc56d0b200864ba436e5497103866d7948f1ab" "58ed6a027cb98356d674cf2015b976784876f3349ce19477f5e02513d074257d";
                CommandVtolTransition "fc9f03e5cc628ef4d5e249ac042885c4e68eb229942a6f216bc568f85d31c487" "531ff710804b909c83cc700fea81b12cac19fdbc8f79ab9dd944072166fc9855";
                LogRequestData "f7e5085cdc4445417c9ae3e8effe3fc754a29fb2c95e5f9167b5ef3c9e760f17" "cdd9f41f1dca3d0233d8dab860cbfdbc33b34f92cc0a20a35ae42010d636e61c";
                LogRequestEnd "4a3a5b49829efcf858645fb8309a88732d3aef3ccc6fde2f100409e03e3eb9ac" "c63ccf5b32d12627b546bfd0cbe183cd2e8420eaaa9cefd50027195fd71b8fa3";
                LogRequestList "771b50fc473bc4a4a36881d34804095d44cf7caee3357ed34ecc0fe67eea6d44" "2fdb5c78647229e9c53179310816b033d29e3dd2ea7eee11fae4ef5c570685cb";
                MessageInterval "01b1e5dff6d7e295b520fb27fff72ece5bed1edfd7d408a49029bfc4f6aa3551" "a8751a6dca7383744c6ba60568d381136421d14b69f1357373252f66fc670d32";
                MountConfigure "e8e60d246948649c260d6d724291b6705464207ecb12449300bf0595efbb5f18" "c8b467b6800d88ef2366fba4e853d4b24dc101811d4cdffefaf93bb3dc20f708";
                ParamPull "534d2487f035a4bd35618c06d99e9a1d587a3e0cc60223c9bc094ff309297bea" "e8aff8089e0e3718faba8537a3774a8728039e1250139715dbf52756243d65c7";
                ParamSetV2 "d5531f4eba9eec3be266a441835951be5e4fe49455db4ca9f9dae5f6805512dd" "7d13f51dfa0db597f69288d543e9fad12c447f75723de77581f2bc8687484483";
                SetMavFrame "e20744401a379db49bffe8a4b5646bef470240c1efe062d319eb58feb37f02d8" "4662f239e3922fc821e4e769ca539761e4ade43715c7b79664ca529ecc040d86";
                SetMode "6630d9d5f75cef3a5683208e7f53bff77a185d73ee1bd87293b1f88ddae22f3f" "81f2db422ef0509e6b17b2f64190ee5ac645fc9480627b3e3c913dd781abe077";
                StreamRate "ca0a2baab8c915faa0f4ec6bf4231e89392236358328ac7e68c9b0f84acc74a9" "2966809d370733fe2f82b3169849b4c3cdc7dc96911c28d11c9fd3570362710c";
                VehicleInfoGet "b8ce3cdc8f42248d83f503edd0bc77a31710875ee24179c798aee7d41d430331" "c65fabdb597d7b2067c29251fed03a0ca95d5f15bab8cf1cc95cf09afc3b3547";
                WaypointClear "ec61662c2df12b95acb24cc7ae4a93b9f87dff8a314bb73893e6abf413cf6c98" "f2574422e005b55115519d7312e79572685713ad2e30c504ce8336ed2eee7e1f";
                WaypointPull "0190ddf2ea31607bed2b12068fb3a1644f659b8459af6cf4274514843827e698" "48b84df92982c33f185558270c2554a92b97222c630a3b8af86c7bba4637a97d";
                WaypointPush "091db41e18b2ab8e2dbe6d94d83e6526f229a06807aedfe45d0b1638085cd927" "bab928f72268e297b75cde20c8a1d716fd0ea10201cf0fab6a26a7d63a2db2a6";
                WaypointSetCurrent "07c9d15147d5d06d10114310c0e3b4935bad223a5c7204200eda348ac66a3c40" "60c60bc6d5b559f4b7d939858781286bb1d15c53e803d8195a1a1bc3f4fae430";
            }
            rcl_interfaces {
                DescribeParameters "05dd1c2bc87dec2627105c8070d6f9725c781a4f2ab852975bf105462b82b644" "ad6747319613c6131589e062e095b469a46cc764f7d0f12a001a49e6cd893995";
                GetParameterTypes "87d7ec5ef545d4daa289d500025d31fb2437bc8b8365ca367161c4dac4be33fd" "ac1335dce67c478e669434f6ac2fbff34fcd529580f272d3006785ba8b54e47f";
                GetParameters "135a9e1c3d7cebef792f6687d7ddf99949b21a0bd9a320d863a9110a3f5cf4d6" "9fa773b46e39cc5d02db6224d8fd520bb9caeeffc2b27c96c1e59431baba9f2a";
                ListParameters "a1b0b5d6b967a5b8ac5bc8563c3ea678f349e312a6a4967227c5a96bc5ce38df" "31b937b82de3612426be79f231e386259f97e8dc843e3f2845288b4bfa296bdd";
                SetParameters "130d46386b7e84ea9ecf60608a4d83cbe5e5cb7c6cc5b712b7a4e3a6c254e932" "7a0e8140a0b8d98308fa81a5403a766e610af29a239caf54b7553227906fc266";
                SetParametersAtomically "db0bd950ed5ed867a0e90b225e44dea382d762c0762ff3e0ee842190042a59e5" "31b1a38c5b0b9d893ee24da45f69638f4561c78461d82d52750f429b534502b8";
            }
            sensor_msgs {
                SetCameraInfo "27dc5497730fdb6930e66cb879c210e31a83022acc5bbc999f24f55286029f87" "4db6d7df20cdcdc05430945e76fa58e1eab1285c15f31d26fad76e2c1b10299c";
            }
            simulation_interfaces {
                DeleteEntity "4b41b2ebdc313a0c98c7c2218849edc8b7b905fd759a23b68c576496a47dc792" "2f68929b527a3bbee03637a1c8192f2aa2982807738389aa0781f8e785673ca7";
                GetAvailableWorlds "6335180e35038ba62eb2bae3d1c1bacd4b7791209137eacbddfee12629bf6c3a" "0ce98a1547f1852fd6d95f794ae4bae8b1d97b9cfa83ea22b80f634999234a18";
                GetCurrentWorld "414ac6e1c5fd5f8be0b828ca7ff8cbee7166297809de31a36129f1d0913cd877" "039f99eb4e156ac597efed7598249921f8e47e5bff8c299d86ab081983a3a52a";
                GetEntities "f0a4c6c0c39c87f84cbd1ea31956b9f39b3fa538ae9c4aa7fc243a32360e8c70" "dd1916edbdc659d355e77980b16ed6eb4d41d5ff445557931ed65c58b00f7b2c";
                GetEntitiesStates "0af5302d3526834e83bd9861fbcc5214af2b9a4b0c93a965840fb1a6c2891724" "b651848f4d93a2b0ec5ec3f36659297ca30547c499f933eb279b60f8be434315";
                GetEntityBounds "41766afd481abfa03a9dface86a487e317da516333af3f5b017df248dd5d7fee" "728d414a3be6d7689fad9d3218c8378c68fbe08c2cfbf9878ac14de713fcf4c1";
                GetEntityInfo "9bdd2628d931108734e304ae1fac80d268a46783fa0060d4a43831c54c30f3b3" "eaa358f007b09b06645f93b5a1c6ae0389f27bee7747e760122994ab1308e1c8";
                GetEntityState "580141cc957c4ee99a7e46bc545db351ab9ce6c3099d4092b1186ddc6a38bd5a" "125f1ca9dc2fc072443deb28587bbb1026fa34db4dfaf59e9a6b7128e0c81331";
                GetNamedPoseBounds "4a62596dff6478d6424267da8933b1446992f61c70c2c196aa36258a1f1d133f" "db03610df68de520b420ccc9dc8826a92547ab9e791ac2a36a7dc86e8f2aa180";
                GetNamedPoses "3d85f7553c5fcb491256b6eab66204ee590edbd0ad2dd53bb4ddf8a95f16af6e" "d0459c9da6adb831b3755778bc348cc88ad2b22fe864a11062df20610a12c320";
                GetSimulationState "c6d65bc5c0a95ca2886bc57f146f803e01722c84ddb5acd5f32a4417f55eecfb" "dc80ce852a5ab04c2b23cdd47910cee1bcc46e0f1931cac85825e6916b15517f";
                GetSimulatorFeatures "982b8c1adef1d556f6ecdc019d1269fc39413626a9222d73b4fc874bd798b7db" "ede4dc8227cbb2f86a24612c999dcaa67d17dab21dab566cefdc233e7a2a65d1";
                GetSpawnables "3e1d1577446a80da956db3e82363c2d66364f9802f6e9572d89497933207d921" "cb61fd741c429d6bc689514b7bfc65bb1518126961317acc6e414a841dc43daa";
                LoadWorld "cd389402a680703d3f9b45b1c3d6bb09c0578b4644654227f0b2e98a2f059f48" "7bab3265c2461d98a44dd04830c5dc997b3d8605c50861824066246c96a7716e";
                ResetSimulation "2c766d09c3aa30f01fadc55a42fd760b63db358c7d1d3b6a64ea9978225ffbc7" "718428121e0f1755720878d3c28f1688da7581ee5a5d56d26d10d941a28a50a0";
                SetEntityInfo "d80ba71f092c702485bdffcd35713793866df4e1a16ace6632c6d4a15bb1eb55" "d17b31f0f6db0146ceb0b711d47dbf81c9c11c87ca4f64cfa671a95d9723c3d6";
                SetEntityState "0ec3cca7e2bde7323c0c7ea4a5a7947f81edb90c144fc0aef5e2052e94e10061" "bbd9bcb2def000f1ed8cb9482abff46c5a11cfe4184203f336b920f249d757f4";
                SetSimulationState "73283477d36ba619db2ac37a3e599077ca244502c9d8ca2a7183afcb2224f476" "6351aebf2bbf06e2993977918b944240f7403b532a9e4a344c53e71a56afd174";
                SpawnEntities "03f070057ac2ab26d723fe9f07c7d57bd39ace34ad34bb043cdbca36825c98d9" "85df56d44250220df64762bf3e769cce45f84730eff8b9823093ca3041ecbbf5";
                SpawnEntity "9bc04fe30d4844466c57b7b090fd7e9aa426995f3eb6ff9a726826ab7223e1fd" "be8c9fc03b6faaf95570949c80195c8ca75dd99f7efc23262309d497b2923982";
                StepSimulation "cda33f6887815f3dce0f90e61fd8efd39bda13ae264ddede15c33fbad890630e" "5b4acf2d0ce7c3fc125d0bef2acb9b5a81377e80db6b696b81beeffb9824fb5c";
                UnloadWorld "22b41a53aecd3cd180a218b16d9428cddc10b9e592ae16eaa434be873387e972" "68d4ea5721903837edd7c7e90d86e62aafb861c1ace33b7c805931974a652d9e";
            }
            std_srvs {
                SetBool "c62fbb99d94e1b25e8ef9e109f9581956bb1b3361a45a4e5810c36a90d29932e" "d0814e7f7b4880ab77e9c57426c7aa1562ab69f11eef8e2e968812f9cbd0b059";
                Trigger "d010825374ce8918e72bfd826c82603e60f45419e932ea976f807b74a863a199" "2d946c21e2fc3f1e9ca6986a8191d85fcc70097a8bb7771a053564bc47009cdf";
            }
            rfly_bridge_msgs {
                AddSensor "3eba4eb1f89bd0fc95ccbcb8e61c8097dd6c299a3bcff226883ddcfff7d0a202" "4809b3de60ce9765cf0cf5a7a1c44e5f16867d4d46e532de3317955e458643ae";
                Attach "82e5521a03a9fad06a6e448fe0c1ce814cfde7f10a74727bf302a32431e244a4" "1571e006c635c2c47cdfe2da8308e416e5c99c06ca84fd654691e9ecf1d21e66";
                ClearFaults "4e8d4758f4c6a6e95ae6a6dea76ae06414cbb20927a6b8b83c4bf94378e0b9b4" "d515ae8228e212e255ee5177bdb3cd8f13143f11ba341e713b586161f4a3bbf8";
                DescribeAll "20d660df3bf7911690d418abecf1236996eae1601650fd676fb4baf5086e32c3" "893b2d129402a271bf035b8f85ec20fb3774680d1f282051b45eb6e7d6a3e9e8";
                GetHeight "a768bd59247491e771824207807362ffe18710c69c05cfc960df69b2a0e85fef" "7bb0b82491ef96dc891457a72d18475d2121a96951a6e8841fa2906c3a39159a";
                InjectFault "b677b966b2d40b4363b7386a0f2c918a124feb3f317fc64ac30db49a6133d120" "b4d75635acdf0a4b17a4b8d3478ec20f4e6af1211cc0234eba4b62ae2a288df2";
                LoadByName "f8cda206dcab5deb4f283b136a5f4869c02ecf926f330ea1e51d8a6143f2bc93" "76b1f048a398ff218cf0c6a2f3566101a509aa194b959a06154d6713ec6ab33e";
                PublishTerrain "08beabb063b533e6f10a567c0a6bb93d731cec2dbda97e2f7a52741060ece61d" "dffa5edf94e76ccb13d0f4c79000f7bd72b04d0ec4c2ae37cea48c6525681103";
                SceneCommand "06ac491a56c3634ba2489d1191af685454d151cd6e189cdd441284daee838de8" "b93ecf1f8e471b9723981c7a5a232145b539cbbc1f3e475ca5e6621e6091e8f3";
                SetActuators "89a6ae1074a6ad2fba148107c82028d641a8809c49766d4f1e3bb53c1ce8b163" "489149607bf2973c2ce7b2b579ad6765ad6ef76cb1efd5ae0cab2de2a5111b14";
                SetGeoOrigin "bf679de22d870dd3bcc8d14655ae4af1dcee8e751406bb734b1285701106d5e0" "0e32a3f9a8622f8d3d28eb5056ee8a5f7848800a898b4be427cfec0eb7fa3059";
                SetGeoPlace "5a3fe6d1c24e3e0485126bb1ed37a2db2cb8711adacb09a3f1f5f814199ae77c" "68f0ec434e475f9dde90fc70db5efcb5d9aa34b9773b7431f727bd61b44c0790";
                SetLabel "5cfd67969b0b21986c87695605d82079692dfa90ab532abfca2cf5a3c1c743c2" "df11f7919ac660adc2eebba46aa5c3dd54338760d960491d17feb376855e0948";
                SetSize "8c9ed0f0764c260ca07365fee5f907893299d97ae5ad973c46dc0b6799383b3f" "5bfcbe701bbc474ca61dc39053efd53c10696b8dc44686ee30ca546c950a41f2";
                SetStencil "5f9d91caee9c01a42f98269ff661031a3cf159b87061a68414184eb35b275ea6" "324dd99fd372bb6b38c22e093f097d0f266441360312babb6cdb5f899b4e675e";
                SetTemperatures "740afa7a880fb505d376472b28bc32870b5c74d3cf6de2cb4e6dce0a36214e52" "8c206166e74faece17672b15aebda53e64ca12ce0fad6a54663a9eab24180390";
                SetUdpMode "51f0c61ffe4dfd85deaaeac7a21e4ac05f2f0db7a052b8933ab67a091e41a977" "6c1792e75bccee4593fe3388c4fe3b65b0ce59662c3a95d86990e6aa3f798891";
                SetVehiclePose "f795495fe06bfe17fb610dd3f8600b94b0b04e686f98986a0f403156269f5a44" "1980a8b252853e95474eecdb43e788528612fd658a3510ae6fdea8aedfafa296";
                SetView "a8ffc7a130e096ca85b5cc821a18266f432e3b0692b42b9129726d169f09220f" "66669607075ab950a7fa4a0a24efccf1a4fb429b92aff8e01d7ddcebf2cdddb0";
                ShowMessage "aa99b9c57f7e0635fbe8c419a509918e71e41eb36131c56fadb8dcee0a5c22d0" "4b23f3e3b1d3ed8023e73b6287ec4e72f3fb105a364d1a7eb9a34c54350b80d2";
            }
        }
    };
}

/// Calls a macro with every action: its package, its name, the hashes of request and response of `_SendGoal`, of
/// `_GetResult`, and of `_FeedbackMessage`.
#[doc(hidden)]
#[macro_export]
macro_rules! every_action_type {
    ([$($then:tt)*] $($argument:tt)*) => {
        $($then)*! { $($argument)* @rows
            simulation_interfaces {
                SimulateSteps "275e6fd2fafc5d33dcdc83bdea6de5cf29f30b9df74a3b9514a8c5d501fd0fe3" "755f44a68d1e8d116f50dfed7ab30a140137fb71ad59eca4851d55abe2b3d4c2" "4591b0bfbcb881003bbd46a2acebcaddceb977e5352905218688ce5ed051fdeb" "5658172e771cb145a986a8ef4c2b80b5407b741038453b8539e35bed5ff23207" "a30dee7ee7380769e616406ec5067b238aa2b27e1dbd7a5957fba1d908d7754d";
            }
        }
    };
}

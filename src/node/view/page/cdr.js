// Decodes CDR with the message definitions (ros2msg) that the server sends.
const SIZES = { bool: 1, byte: 1, char: 1, int8: 1, uint8: 1, int16: 2, uint16: 2, int32: 4, uint32: 4,
  int64: 8, uint64: 8, float32: 4, float64: 8 };
const GET = {
  bool: (v, o) => v.getUint8(o) !== 0, byte: (v, o) => v.getUint8(o), char: (v, o) => v.getUint8(o),
  int8: (v, o) => v.getInt8(o), uint8: (v, o) => v.getUint8(o),
  int16: (v, o, l) => v.getInt16(o, l), uint16: (v, o, l) => v.getUint16(o, l),
  int32: (v, o, l) => v.getInt32(o, l), uint32: (v, o, l) => v.getUint32(o, l),
  int64: (v, o, l) => Number(v.getBigInt64(o, l)), uint64: (v, o, l) => Number(v.getBigUint64(o, l)),
  float32: (v, o, l) => v.getFloat32(o, l), float64: (v, o, l) => v.getFloat64(o, l),
};
const text = new TextDecoder();

// Parses a definition into: "package/Name" -> [{name, type, array: undefined (no array) | 0 (any length) | n}].
function parse(schema, root) {
  const types = new Map();
  const parts = schema.split(/^=+\n/m);
  parts.forEach((part, i) => {
    let name = root.replace("/msg/", "/");
    if (i > 0) {
      const end = part.indexOf("\n");
      name = part.slice(5, end).trim();
      part = part.slice(end + 1);
    }
    const fields = [];
    for (const raw of part.split("\n")) {
      const line = raw.replace(/#.*/, "").trim();
      const found = line.match(/^([\w/]+)(<=\d+)?(\[(<=)?(\d*)\])?\s+(\w+)(\s*=.*)?/);
      if (!found || (found[7] && !found[3] && /^[A-Z0-9_]+$/.test(found[6]))) continue;
      const array = found[3] === undefined ? undefined : found[4] ? 0 : Number(found[5] || 0);
      let type = found[1];
      if (!SIZES[type] && type !== "string" && !type.includes("/")) {
        type = type === "Header" ? "std_msgs/Header" : name.split("/")[0] + "/" + type;
      }
      fields.push({ name: found[6], type, array });
    }
    types.set(name, fields);
  });
  return types;
}

class CdrReader {
  constructor(view, types) {
    this.view = view;
    this.types = types;
    this.littleEndian = view.getUint8(1) === 1;
    this.offset = 4; // after the encapsulation header
  }
  align(size) { this.offset = 4 + Math.ceil((this.offset - 4) / size) * size; }
  number(type) {
    const size = SIZES[type];
    this.align(size);
    const value = GET[type](this.view, this.offset, this.littleEndian);
    this.offset += size;
    return value;
  }
  string() {
    const length = this.number("uint32");
    const bytes = new Uint8Array(this.view.buffer, this.view.byteOffset + this.offset, Math.max(0, length - 1));
    this.offset += length;
    return text.decode(bytes);
  }
  value(type) {
    if (type === "string") return this.string();
    return SIZES[type] ? this.number(type) : this.message(type);
  }
  array(type, fixed) {
    const length = fixed || this.number("uint32");
    if (type === "uint8" || type === "byte") {
      const bytes = new Uint8Array(this.view.buffer, this.view.byteOffset + this.offset, length);
      this.offset += length;
      return bytes;
    }
    return Array.from({ length }, () => this.value(type));
  }
  message(type) {
    const value = {};
    for (const field of this.types.get(type) ?? []) {
      value[field.name] = field.array === undefined ? this.value(field.type) : this.array(field.type, field.array);
    }
    return value;
  }
}

/** Returns a function that decodes a DataView into a message. */
export function decoder(schema, name) {
  const types = parse(schema, name);
  return (view) => new CdrReader(view, types).message(name.replace("/msg/", "/"));
}

const numeric = new Map(); // type -> paths

/** The paths of all single numbers of a type, such as `pose.position.x`. */
export function numericFields(schema, name) {
  if (!numeric.has(name)) {
    const types = parse(schema, name);
    const walk = (type, path, depth) => (types.get(type) ?? []).flatMap((field) => {
      const here = [...path, field.name];
      if (field.array !== undefined || /^(std_msgs\/Header|builtin_interfaces\/)/.test(field.type) || depth > 6) return [];
      return SIZES[field.type] ? [here.join(".")] : walk(field.type, here, depth + 1);
    });
    numeric.set(name, walk(name.replace("/msg/", "/"), [], 0));
  }
  return numeric.get(name);
}

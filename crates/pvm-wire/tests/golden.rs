//! Messages of machines of every layout, as bytes that were written down, read on this machine.
//!
//! A file of `tests/golden` holds messages, each of these lines:
//!
//! ```text
//! message NAME          begins one; lines with # and empty lines are for people
//! layout LAYOUT         the sender's: little64 little32 big64 big32
//! encoding ENCODING     default, raw, or bulk: raw with a run in the envelope
//! data HEX              items as the sender's memory has them
//! run SHAPE COUNT       the run list: numbers of doc/wire.md
//! size BYTES            what pvm_bufinfo tells in default encoding, else bytes of data
//! read KIND VALUES      what is read, in order; longs are cut to the width of this machine's
//! fails KIND COUNT CODE a read of so many items that is refused
//! ```
//! These files are read by the builds for other machines, so each layout is proven on each.

use pvm_wire::{
    Address, Blob, Body, Code, Context, Cursor, Encoding, Envelope, Kind, Layout, Message, RunList,
    Tag, Tid, Wire, foreign,
};

#[test]
fn messages_of_64_bit_little_endian_machines() {
    check(include_str!("golden/little64.txt"));
}

#[test]
fn messages_of_32_bit_little_endian_machines() {
    check(include_str!("golden/little32.txt"));
}

#[test]
fn messages_of_64_bit_big_endian_machines() {
    check(include_str!("golden/big64.txt"));
}

#[test]
fn messages_of_32_bit_big_endian_machines() {
    check(include_str!("golden/big32.txt"));
}

#[test]
fn the_envelope_has_one_form_on_all_machines() {
    let envelope = Envelope {
        src: Tid(0x0004_0001),
        dst: Tid(0x0008_0002),
        tag: -7,
        context: 3,
        encoding: Encoding::Default,
        layout: Layout::Big32,
        flags: 0x0102,
        run_count: 1,
        wait_id: 0x0a0b_0c0d,
        data_size: 12,
        first_run: 0x0300_0000_0000_0003,
        sequence: 0x0102_0304_0506_0708,
    };
    let bytes = "01 00 04 00 02 00 08 00 f9 ff ff ff 03 00 00 00 00 04 02 01 01 00 00 00 \
                 0d 0c 0b 0a 00 00 00 00 0c 00 00 00 00 00 00 00 03 00 00 00 00 00 00 03 \
                 08 07 06 05 04 03 02 01";
    assert_eq!(envelope.to_array().to_vec(), hex(bytes));
    assert_eq!(Envelope::from_bytes(&hex(bytes)), Ok(envelope));
}

#[test]
fn frames_and_requests_have_one_form_on_all_machines() {
    use pvm_wire::request::{Request, Role};
    let hello = Request::OpenSlab { bytes: 0x0102_0304_0506 };
    let mut frame = Vec::new();
    pvm_wire::write_frame(&mut frame, 7, &hello);
    assert_eq!(frame, hex("0a 00 00 00 07 00 00 00 03 00 06 05 04 03 02 01 00 00"));
    let signal = Request::Hello {
        version: 0x0102,
        role: Role::Task,
        program: Blob::from("ab"),
        reset: true,
        cookie: 0x0304_0506,
        layout: Layout::Big64,
    };
    let start = hex("01 00 02 01");
    assert_eq!(signal.to_bytes()[..4], start);
    assert_eq!(
        Request::from_bytes(&signal.to_bytes()).map(|r| r.to_bytes()),
        Ok(signal.to_bytes())
    );
}

/// One message of a file.
struct Vector {
    name: String,
    layout: Layout,
    encoding: Encoding,
    data: Vec<u8>,
    words: Vec<u64>,
    size: usize,
    reads: Vec<String>,
}

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("hex")).collect()
}

fn layout(name: &str) -> Layout {
    match name {
        "little64" => Layout::Little64,
        "little32" => Layout::Little32,
        "big64" => Layout::Big64,
        "big32" => Layout::Big32,
        _ => panic!("{name}"),
    }
}

fn kind(name: &str) -> Kind {
    match name {
        "byte" => Kind::Byte,
        "short" => Kind::Short,
        "ushort" => Kind::Ushort,
        "int" => Kind::Int,
        "uint" => Kind::Uint,
        "float" => Kind::Float,
        "double" => Kind::Double,
        "long" => Kind::Long,
        "ulong" => Kind::Ulong,
        "cplx" => Kind::Cplx,
        "dcplx" => Kind::Dcplx,
        _ => panic!("{name}"),
    }
}

/// Values as this machine's memory has them.
fn native(kind: Kind, values: &str) -> Vec<u8> {
    let whole = |text: &str| text.parse::<i128>().expect("a whole number");
    let real = |text: &str| text.parse::<f64>().expect("a number");
    let item = |text: &str| match kind {
        Kind::Byte => vec![whole(text) as u8],
        Kind::Short | Kind::Ushort => (whole(text) as u16).to_ne_bytes().to_vec(),
        Kind::Int | Kind::Uint => (whole(text) as u32).to_ne_bytes().to_vec(),
        Kind::Long | Kind::Ulong if Layout::NATIVE.long_size() == 4 => {
            (whole(text) as u32).to_ne_bytes().to_vec()
        }
        Kind::Long | Kind::Ulong => (whole(text) as u64).to_ne_bytes().to_vec(),
        Kind::Float | Kind::Cplx => (real(text) as f32).to_ne_bytes().to_vec(),
        Kind::Double | Kind::Dcplx => real(text).to_ne_bytes().to_vec(),
    };
    values.split_whitespace().flat_map(item).collect()
}

fn parse(text: &str) -> Vec<Vector> {
    let mut all: Vec<Vector> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (word, rest) = line.split_once(' ').expect("a word and its value");
        if word == "message" {
            all.push(Vector {
                name: rest.to_owned(),
                layout: Layout::NATIVE,
                encoding: Encoding::Default,
                data: Vec::new(),
                words: Vec::new(),
                size: 0,
                reads: Vec::new(),
            });
            continue;
        }
        let vector = all.last_mut().expect("a message line comes first");
        match word {
            "layout" => vector.layout = layout(rest),
            "encoding" if rest == "default" => vector.encoding = Encoding::Default,
            "encoding" => vector.encoding = Encoding::Raw,
            "data" => vector.data.extend(hex(rest)),
            "run" => {
                let (shape, count) = rest.split_once(' ').expect("shape and count");
                let shape: u64 = shape.parse().expect("a shape");
                vector.words.push(shape << 56 | count.parse::<u64>().expect("a count"));
            }
            "size" => vector.size = rest.parse().expect("a size"),
            "read" | "fails" => vector.reads.push(line.to_owned()),
            _ => panic!("{line}"),
        }
    }
    all
}

impl Vector {
    /// The message as a daemon would hand it on.
    fn message(&self) -> Message {
        let mut envelope =
            Envelope::new(Tid(0x40001), Address::new(Tid(0x80001), Tag(1), Context::FIRST));
        envelope.layout = self.layout;
        envelope.encoding = self.encoding;
        envelope.data_size = self.data.len() as u64;
        envelope.first_run = self.words.first().copied().unwrap_or(0);
        let mut body = self.data.clone();
        if self.encoding.has_runs() {
            envelope.run_count = u32::try_from(self.words.len()).expect("few");
            if self.words.len() > 1 {
                body.extend(self.words.iter().flat_map(|word| word.to_le_bytes()));
            }
        }
        Message { envelope, body: Blob(body) }
    }

    fn check(&self) {
        let about = &self.name;
        let message = self.message();
        assert!(message.is_sound(), "{about}");
        let mut envelope = message.envelope;
        let (data, list) = message.body.0.split_at(self.data.len());
        let mut runs = envelope.runs(list).expect("sound");
        let told = if self.encoding.has_runs() { runs.xdr_size() } else { data.len() };
        assert_eq!(told, self.size, "{about}");
        let data = foreign::make_native(&mut envelope, &mut runs, data.to_vec()).expect("sound");
        let body = Body { data: &data, runs: &runs, encoding: envelope.encoding };
        let mut cursor = Cursor::new();
        for line in &self.reads {
            let mut words = line.splitn(3, ' ').skip(1);
            let kind = kind(words.next().expect("a kind"));
            let rest = words.next().expect("values");
            assert!(foreign::can_read(&envelope, envelope.encoding, kind), "{about}: {line}");
            if line.starts_with("fails") {
                let (count, code) = rest.split_once(' ').expect("count and code");
                let count: usize = count.parse().expect("a count");
                let mut out = vec![0; count * kind.size()];
                assert_eq!(code, "NoData");
                assert_eq!(cursor.read(body, kind, &mut out), Err(Code::NoData), "{about}: {line}");
                continue;
            }
            let expected = native(kind, rest);
            let mut out = vec![0; expected.len()];
            assert_eq!(cursor.read(body, kind, &mut out), Ok(()), "{about}: {line}");
            assert_eq!(out, expected, "{about}: {line}");
        }
    }
}

fn check(text: &str) {
    let all = parse(text);
    assert!(all.len() > 10, "{} messages", all.len());
    all.iter().for_each(Vector::check);
}

#[test]
fn raw_data_of_another_machine_are_refused_where_they_would_be_nonsense() {
    let mut envelope = Envelope::new(Tid(1), Address::new(Tid(2), Tag(1), Context::FIRST));
    let raw = Encoding::Raw;
    envelope.encoding = raw;
    for layout in Layout::ALL {
        envelope.layout = layout;
        let readable = |kind| foreign::can_read(&envelope, raw, kind);
        let same = layout == Layout::NATIVE;
        let same_order = layout.is_big() == Layout::NATIVE.is_big();
        assert!(readable(Kind::Byte));
        assert_eq!(readable(Kind::Int), same_order);
        assert_eq!(readable(Kind::Dcplx), same_order);
        assert_eq!(readable(Kind::Long), same);
        assert!(foreign::can_read(&envelope, Encoding::Default, Kind::Long));
    }
    let mut runs = RunList::new();
    let data = foreign::make_native(&mut envelope, &mut runs, vec![1, 2, 3]);
    assert_eq!((data, envelope.layout), (Ok(vec![1, 2, 3]), Layout::Big32));
}

#[test]
fn a_run_list_that_lies_about_the_data_is_no_message() {
    let mut envelope = Envelope::new(Tid(1), Address::new(Tid(2), Tag(1), Context::FIRST));
    envelope.layout = Layout::ALL.into_iter().find(|l| *l != Layout::NATIVE).expect("four");
    let mut runs = RunList::new();
    runs.push(Kind::Int, 2);
    let data = foreign::make_native(&mut envelope, &mut runs, vec![0; 7]);
    assert_eq!(data, Err(Code::BadMsg));
}

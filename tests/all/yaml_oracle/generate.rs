//! Documents that are hard to read right: a seeded stream, and some written by hand.

#![expect(clippy::format_push_string, reason = "reads better than `write!` with a result to drop")]

/// Scalars in every form that means something to some reader.
#[rustfmt::skip]
const SCALARS: &[&str] = &[
    "yes", "Yes", "YES", "yEs", "no", "on", "off", "y", "n", "Y", "N", "true", "True", "TRUE", "tRue",
    "false", "~", "null", "Null", "NULL", "nULL", "", "0", "00", "-0", "+0", "1", "+1", "-1", "0644",
    "-0644", "+0644", "08", "-08", "089", "0o7", "0O17", "0o8", "-0o7", "0b1", "0B1", "-0b11", "+0b1",
    "0b2", "0b", "0b-1", "0b+1", "-0b-1", "0x1F", "0X1f", "0x", "-0x1", "0xG", "1_000", "1__0", "_1", "1_",
    "0_8", "0x_1", "+_1", "-_", "1e3", "1E3", "1e+3", "1e-3", "1e", "e3", "1.e3", ".5", "-.5", "+.5",
    ".5e3", "._5", ".5_0", ".5_", ".5__0", "5.", "1.5", "1_0.5_0", "1.5.5", "1e400", "-1e400", "1e-400",
    ".", "..", "+", "-", "+.", "-.", ".inf", "-.inf", "+.inf", ".Inf", ".INF", ".iNf", "inf", ".nan",
    ".NaN", ".NAN", "nan", "NaN", "Infinity", "9007199254740993", "9223372036854775807",
    "9223372036854775808", "18446744073709551615", "18446744073709551616", "-9223372036854775808",
    "-9223372036854775809", "+9223372036854775808", "+18446744073709551615", "0xFFFFFFFFFFFFFFFF",
    "0x10000000000000000", "-0x8000000000000000", "01777777777777777777777", "02000000000000000000000",
    "0777777777777777777777", "-01000000000000000000000",
    "-0b1000000000000000000000000000000000000000000000000000000000000000", "123456789012345678901234567890",
    "12345678901234567890.5", "1e19", "2001-12-14", "2001-1-1", "2001-12-14t21:59:43.10-05:00",
    "2001-12-14 21:59:43.10 -5", "12:30:45", "190:20:30", "1:30", "=", "<<", "-", "- ", "0.1", "100m",
    "1Gi", "v1", "1.2.3", "1,000", "0x1p4", "1f", "infinity", "١", "２", "é", "a b", "a: b", "a #b", "a#b",
    "a:b", "http://x/?a=b", "a, b", "it's", "\"", "'", "*a", "&a", "!a", "%a", "@a", "`a", "a?b", "?a",
    "? a", ":a", ": a", "-a", "a:", "a]", "[a", "{a", "a}", "|", ">", "|-", "{{ .Values.a }}", "${A}",
    "a\\b", "\u{85}", "\u{2028}", "\u{FEFF}", "\t", "a\tb", "\u{7f}", "---", "...", "--- a", "1 ", "true ",
    "trüe", "1e3.5",
];

#[rustfmt::skip]
const TAGS: &[&str] = &[
    "!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq", "!!set", "!foo", "!", "!!foo",
    "!<tag:yaml.org,2002:str>", "!<x>", "!!merge", "!a!b",
];

#[rustfmt::skip]
const KEYS: &[&str] = &[
    "a", "b", "c", "kind", "metadata", "on", "y", "1", "1.5", "1e10", "0x10", "true", "<<", "\"<<\"",
    "'a b'", "\"c\\td\"", "a/b", "~", "null", ".inf", "1_0", "é", "2001-01-01", "1e-7", "100000.0",
    "1000000.0", "123456789.0", "-0.0", "18446744073709551615",
];

/// Written by hand: each is there for a reason that a stream would seldom meet.
#[rustfmt::skip]
pub(super) const WRITTEN: &[&str] = &[
    "", "# only a comment\n", "---\n", "---\n# c\n", "a: 1\n...\n", "\u{feff}a: 1\n",
    // Merges: order decides, lists go backwards, only plain `<<` merges.
    "a: 1\n<<: {a: 2}\n", "<<: {a: 2}\na: 1\n", "a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\n",
    "b: {x: 3, <<: {x: 1}, y: 2}\n", "<<: [{a: 1}, {a: 2, b: 2}]\n", "<<: [{a: 1}, [b]]\n", "<<: 1\n",
    "<<:\n", "'<<': {a: 1}\n", "!!merge <<: {a: 1}\n", "! '<<': {a: 1}\n", "!!str <<: {a: 1}\n",
    "a: &a [{b: 1}]\nc: {<<: *a}\n", "a: &a {b: 1}\nc: {<<: [*a, {b: 2}]}\n",
    "<<: {<<: {a: 1}, b: 2}\nc: 3\n", "<<: {a: 1}\n<<: {a: 2}\n", "- <<\n", "a: <<\n",
    "<<: &m {a: 1}\nb: *m\n",
    // Anchors.
    "a: &a 1\nb: *a\n", "a: &a 1\nb: &a 2\nc: *a\n", "a: &a [*a]\n", "a: *b\n", "&a a: 1\nb: *a\n",
    "&k yes: 1\nb: *k\n", "*a : 1\n", "- &a x\n- {*a : 1}\n", "- &a 1.5\n- {*a : 1}\n",
    "- &a {b: 1}\n- {*a : 1}\n", "a: &a\nb: *a\n", "&r {a: *r}\n", "a: &a .inf\n", "&a .inf: 1\nb: 2\n",
    "&a .inf: 1\nb: *a\n", "a: &1 x\nb: *1\n", "a: &a-b_c x\nb: *a-b_c\n", "a: & x\n",
    // Keys.
    "? a\n: 1\n", "? a\n", "? [a]\n: 1\n", "? {a: 1}\n: 1\n", ": 1\n", "{: 1}\n", "{a, b: , c: 1}\n",
    "{a: 1, }\n", "[a, ]\n", "[, a]\n", "{a: 1 b: 2}\n", "[a: 1, b]\n", "[? a : 1]\n", "{\"a\":1}\n",
    "{a:1}\n", "{a:}\n", "[a:]\n", "{a:,b: 1}\n", "{a::b}\n", "[a:b]\n", "[::]\n", "a : 1\n", "\"a\" : 1\n",
    "a:1\n", "a:\n", "a:\nb:\n- 1\n-\n- \n", "a: - 1\n", "- a: 1\n  b: 2\n- - c\n  - d\n", "-\n  a: 1\n",
    "a:\n- b\nc: d\n",
    // Block scalars.
    "a: |\n  x\n", "a: |\n  x", "a: |-\n  x\n", "a: |+\n  x\n\n", "a: |+\n  x",
    "a: >\n  x\n  y\n\n  z\n   w\n  v\n", "a: >-\n  x\n  y", "a: |2\n   x\n", "a: |1\n  x\n",
    "a: |0\n  x\n", "a: |9\n x\n", "a: |2-\n   x\n", "a: |-2\n   x\n", "a: |+2\n   x\n\n",
    "a: |  # c\n  x\n", "a: | x\n", "a: |\n\n  x\n", "a: |\n   \n  x\n", "a: |\n     \n  x\n",
    "a: |\n  x\n # c\nb: 1\n", "a: |\n\tx\n", "a: |\n  \tx\n", "a: |\nb: 1\n", "a: |", "a: >", "a: |\n",
    "a: |\n\n\n", "a: |+\n\n\n", "a: |+\n  x\n  ", "a: |\n  x\n  ", "a: |\n  x\n    ", "a: |+\n  x\n ",
    "a: |\n ", "a: |+\n ", "a: |+\n    ", "a: |\n  x\u{85}", "a: |\n  x\u{2028}", "a: |+\n  x\u{85} ",
    "a: |\n  x\n\n\n  y\n\n\n", "- |\n x\n- >\n y\n", "a: |\r\n  x\r\n  y\r\n", "a: |\r  x\r", "|\n x\n",
    "--- |\n x\n", "a: >\n\n  x\n\n\n  y\n", "a: |\n  x \n  y\t\n", "a: >\n  x \n  y\n",
    // Plain and quoted scalars of several lines.
    "a: x\n  y\n\n  z\n", "a:\n  x\n  y\n", "a: x # c\n  y\n", "a: 'x\n  y\n\n  z'\n",
    "a: \"x\n  y\\\n  z\\n\"\n", "a: \"x\n\n\n  y\"\n", "a: 'it''s'\n",
    "a: \"\\x41\\u00e9\\U0001F600\\t\\0\\e\\ \\_\\N\\L\\P\\/\"\n", "a: \"\\ud83d\\ude00\"\n",
    "a: \"\\q\"\n", "a: \"\\x4\"\n", "a: \"\\uD800\"\n", "a: \"x", "a: 'x", "a: \"\\",
    "a: \"---\n--- x\"\n", "a: 'x\n---\ny'\n", "a: \"  x  \"\n", "a: \" \n x\"\n", "a: 'x \n  y'\n",
    "a: 'a'b\n", "a: \"a\" b\n", "'a': 'b': 'c'\n",
    // Tabs, blanks, line breaks, characters.
    "a:\t1\n", "a:\t\tb\n", "\ta: 1\n", "a:\n\tb: 1\n", "a:\n \tb: 1\n", "-\ta\n", "- \ta\n", "-\t- a\n",
    "{\ta:\t1\t}\n", "[\n\ta,\n\tb\n]\n", "a: [\n1,\n2\n]\n", "a: {\nb: 1}\n", "a: b\t# c\n", "a: b#c\n",
    "a: 1\r\nb: 2\r\n", "a: 1\rb: 2\r", "a: 1\u{85}b: 2\n", "a: 1\u{2028}b: 2\n", "a: x\u{2028}  y\n",
    "a: 'x\u{2029}y'\n", "a: x\u{85}  y\n", "a: \0\n", "a: \u{1}\n", "a: \u{7f}\n", "a: \u{80}\n",
    "a: \u{fffe}\n", "a: \u{fffd}\n", "a: \u{feff}b\n", "a: 1\n\u{feff}b: 2\n", "a: 😀\n", "：: 1\n",
    "a:\u{a0}1\n", "a: 1\u{a0}\n", "\u{feff}", "\u{feff}# c\n",
    // Tags.
    "a: !!str 1\n", "a: !!int \"3\"\n", "a: !!int x\n", "a: !!int 1.5\n", "a: !!float 3\n",
    "a: !!float x\n", "a: !!float 9223372036854775808\n", "a: !!bool yes\n", "a: !!bool 1\n",
    "a: !!null ''\n", "a: !!null x\n", "a: !!null\n", "a: !foo 2\n", "a: ! 2\n", "a: ! \"2\"\n",
    "a: !!binary aGk=\n", "a: !!binary x\n", "a: !!timestamp 2001-01-01\n", "a: !!timestamp x\n",
    "a: !!set {x, y}\n", "a: !!omap [x: 1]\n", "a: !!seq {x: 1}\n", "a: !!map [x]\n", "a: !!str [x]\n",
    "a: !!null {x: 1}\n", "!!str 1: x\n", "!!int \"1\": x\n", "a: !\n", "a: !!\n", "a: !<>\n",
    "a: !<tag:yaml.org,2002:int> 3\n", "a: !x!y z\n", "[!!str a, b]\n", "[!!str, b]\n", "[!a,b]\n",
    "{!!str a: b}\n", "{a: !!str}\n", "{a: !!str }\n", "[! a]\n", "<!:,]\n", "a: hi!:, b\n", "[!a:, b]\n",
    "{\"a!\":, b: 1}\n", "a: ![x](y), z!\n", "a: !!str\nb: !!int\n", "a: !!str |\n  1\n",
    "a: !!str &x 1\nb: *x\n", "a: &x !!str 1\nb: *x\n", "a: !%41 x\n", "a: !e%C3%A9 x\n", "a: !%zz x\n",
    "!!map\na: 1\n", "- !!str\n- !foo\n",
    // Directives and several documents: read by the reference in its way.
    "%YAML 1.1\n---\na: 1\n", "%YAML 1.2\n---\na: 1\n", "%TAG ! x\n---\na: 1\n", "%FOO\n---\na: 1\n",
    "a: 1\n---\nb: 2\n", "a: 1\n...\nb: 2\n", "--- a\n", "--- {a: 1}\n", "---\na: 1\n---\n", "... \n",
    "a: 1\n...\n...\n", "a: 1\n... # c\n",
    // JSON.
    "{\"a\": [1, -2, 3.5, 1e3, 1E400, true, false, null, \"x\\u00e9\\n\\/\"]}", "[]", "{}", "\"x\"",
    "{\"a\": \"\u{7f}\"}", "{\n\t\"a\": 1,\n\t\"b\": [\n\t\t2\n\t]\n}\n", "{\"a\":1,\"a\":2}",
    "{\"<<\": {\"a\": 1}}", "{\"a\": 18446744073709551616}", "{\"a\": -0}", "{\"a\": 01}", "{\"a\": 1} x",
    "{\"a\": 1}\n{\"b\": 2}\n", "[1] [2]", "{\"a\" :1}", "{\"a\"\n: 1}", "{'a': 1}", "{\"a\": 1,}",
    "{\"a\": nul}", "{\"yes\": yes}", "{\"a\": \"x\ny\"}",
    // Broken.
    "a: [1\n", "a: {b: 1\n", "a: ]\n", "a: }\n", "a: 1\n b: 2\n", "a: 1\n  - b\n", "- a\nb: 1\n",
    "a\nb: 1\n", "a: b: c\n", "a: *\n", "a: &\n", "@a\n", "`a\n", "a: @b\n", "a: %b\n", "%a: 1\n",
    "a: [b]]\n", "a: 'b' c\n", "a: [b] c\n", "- - - a\n - b\n", "a: |x\n  b\n", "a:\n  b: 1\n c: 2\n",
    "?\n", "-", "- -", ":", "a: -\n", "a: - \n",
];

/// The scalars, each where a value, an item and a key may stand.
pub(super) fn scalars() -> impl Iterator<Item = String> {
    SCALARS.iter().flat_map(|scalar| {
        [
            format!("a: {scalar}\n"),
            format!("[{scalar}]\n"),
            format!("{scalar}: x\n"),
            format!("a: \"{scalar}\"\n"),
        ]
    })
}

/// An endless stream of documents, most of them well formed.
pub(super) fn documents(seed: u64) -> impl Iterator<Item = String> {
    let mut random = Random(seed);
    std::iter::from_fn(move || {
        let mut writer = Writer { random: Random(random.next()), anchors: Vec::new() };
        let mut text = writer.document();
        if random.below(3) == 0 {
            for _ in 0..=random.below(3) {
                text = writer.damaged(&text);
            }
        }
        Some(text)
    })
}

/// `SplitMix64`: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    fn of<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }
}

struct Writer {
    random: Random,
    anchors: Vec<String>,
}

impl Writer {
    fn document(&mut self) -> String {
        let mut text = String::new();
        if self.random.below(8) == 0 {
            text.push_str(self.random.of(&["---\n", "--- # c\n", "# c\n", "\n", "\u{feff}"]));
        }
        match self.random.below(10) {
            0 => {
                text.push_str(&self.flow(3));
                text.push('\n');
            }
            1 => self.sequence(&mut text, 0, 3),
            _ => self.mapping(&mut text, 0, 3),
        }
        match self.random.below(12) {
            0 => text.truncate(text.trim_end().len()),
            1 => text.push_str("...\n"),
            2 => text.push_str("# end"),
            3 => text = text.replace('\n', "\r\n"),
            _ => {}
        }
        text
    }

    fn mapping(&mut self, text: &mut String, indent: usize, depth: usize) {
        for _ in 0..=self.random.below(4) {
            self.filler(text, indent);
            text.push_str(&" ".repeat(indent));
            if self.random.below(12) == 0 {
                self.merge(text);
                continue;
            }
            let key = self.key();
            if self.random.below(20) == 0 {
                text.push_str(&format!("? {key}\n{}:", " ".repeat(indent)));
            } else {
                text.push_str(&key);
                text.push(':');
            }
            self.value(text, indent, depth);
        }
    }

    fn sequence(&mut self, text: &mut String, indent: usize, depth: usize) {
        for _ in 0..=self.random.below(4) {
            self.filler(text, indent);
            text.push_str(&" ".repeat(indent));
            text.push('-');
            self.value(text, indent, depth);
        }
    }

    fn filler(&mut self, text: &mut String, indent: usize) {
        match self.random.below(15) {
            0 => text.push('\n'),
            1 => text.push_str(&format!("{}# comment: [\n", " ".repeat(indent))),
            2 => text.push_str("  \n"),
            _ => {}
        }
    }

    fn merge(&mut self, text: &mut String) {
        let value = match self.anchors.last() {
            Some(anchor) if self.random.below(3) > 0 => match self.random.below(3) {
                0 => format!("[*{anchor}, {{a: 1}}]"),
                _ => format!("*{anchor}"),
            },
            _ => self.random.of(&["{a: 1, z: 2}", "[{a: 1}, {a: 2, b: 3}]", "{}", "[]", "1", ""]).to_owned(),
        };
        text.push_str(&format!("<<: {value}\n"));
    }

    /// What stands behind `:` or `-`, to the end of its lines.
    fn value(&mut self, text: &mut String, indent: usize, depth: usize) {
        let properties = self.properties();
        let choice = self.random.below(if depth == 0 { 12 } else { 18 });
        match choice {
            0..=4 => text.push_str(&format!(" {properties}{}\n", self.scalar())),
            5 => text.push_str(&format!(
                " {properties}{}{}\n",
                self.scalar(),
                self.random.of(&[" # c", "\t# c", " ", "\t", " #"])
            )),
            6 => text.push_str(&format!(" {properties}{}\n", self.quoted())),
            7 | 8 => self.block(text, &properties, indent),
            9 => text.push_str(&format!(" {properties}{}\n", self.flow(depth))),
            10 => text.push_str(&format!(
                " {properties}{}\n{}{}\n",
                self.word(),
                " ".repeat(indent + 1),
                self.word()
            )),
            11 => match self.anchors.last() {
                Some(anchor) => text.push_str(&format!(" *{anchor}\n")),
                None => text.push_str(&format!(" {properties}\n")),
            },
            12..=15 => {
                text.push_str(&format!(" {properties}\n"));
                let deeper = indent + 1 + self.random.below(3);
                self.mapping(text, deeper, depth - 1);
            }
            _ => {
                text.push_str(&format!(" {properties}\n"));
                let deeper = indent + self.random.below(3);
                self.sequence(text, deeper, depth - 1);
            }
        }
    }

    fn properties(&mut self) -> String {
        let mut text = String::new();
        if self.random.below(12) == 0 {
            let anchor = self.random.of(&["a", "b", "c-1", "x_y"]).to_owned();
            text.push_str(&format!("&{anchor} "));
            self.anchors.push(anchor);
        }
        if self.random.below(12) == 0 {
            text.push_str(self.random.of(TAGS));
            text.push(' ');
        }
        text
    }

    fn key(&mut self) -> String {
        if self.random.below(6) == 0 {
            return self.random.of(KEYS).to_owned();
        }
        format!("k{}", self.random.below(1000))
    }

    fn word(&mut self) -> String {
        self.random
            .of(&["one", "two three", "x:y", "a#b", "-1", "true", "é", "it's", "a, b", "[c", "0"])
            .to_owned()
    }

    fn scalar(&mut self) -> String {
        match self.random.below(4) {
            0 => self.word(),
            1 => {
                let length = 1 + self.random.below(6);
                (0..length)
                    .map(|_| {
                        self.random.of(&[
                            "0", "1", "8", "_", ".", "e", "E", "+", "-", "x", "b", "o", "a", "F", ":", "7",
                        ])
                    })
                    .collect()
            }
            _ => self.random.of(SCALARS).to_owned(),
        }
    }

    fn quoted(&mut self) -> String {
        let inner = self.scalar();
        match self.random.below(4) {
            0 => format!("'{}'", inner.replace('\'', "''")),
            1 => format!("'{}\n   {}'", inner.replace('\'', "''"), self.word().replace('\'', "''")),
            2 => {
                let escape = self.random.of(&[
                    "\\n",
                    "\\t",
                    "\\x41",
                    "\\u00e9",
                    "\\U0001F600",
                    "\\\\",
                    "\\\"",
                    "\\0",
                    "\\\n  ",
                    "\n\n  ",
                    "\\e",
                    "\\z",
                    "\\/",
                ]);
                format!("\"{}{escape}{}\"", inner.replace(['"', '\\'], ""), self.word())
            }
            _ => format!("\"{}\"", inner.replace(['"', '\\'], "")),
        }
    }

    fn block(&mut self, text: &mut String, properties: &str, indent: usize) {
        let style = self.random.of(&["|", ">"]);
        let chomp = self.random.of(&["", "-", "+"]);
        let explicit = self.random.below(6) == 0;
        let deeper = 1 + self.random.below(3);
        let comment = if self.random.below(10) == 0 { " # c" } else { "" };
        text.push_str(&format!(" {properties}{style}"));
        if explicit {
            text.push_str(&deeper.to_string());
        }
        text.push_str(&format!("{chomp}{comment}\n"));
        for _ in 0..self.random.below(5) {
            match self.random.below(6) {
                0 => text.push('\n'),
                1 => text.push_str(&format!("{}\n", " ".repeat(self.random.below(indent + deeper + 2)))),
                2 => text.push_str(&format!("{}  {}\n", " ".repeat(indent + deeper), self.word())),
                3 => text.push_str(&format!("{}---\n", " ".repeat(indent + deeper))),
                _ => text.push_str(&format!("{}{}\n", " ".repeat(indent + deeper), self.scalar())),
            }
        }
    }

    fn flow(&mut self, depth: usize) -> String {
        let separator = self.random.of(&[", ", ",", " , ", ",\n   "]);
        let items = self.random.below(4);
        if depth == 0 || self.random.below(5) == 0 {
            return self.flow_scalar();
        }
        if self.random.below(2) == 0 {
            let items: Vec<_> = (0..items).map(|_| self.flow(depth - 1)).collect();
            return format!("[{}]", items.join(separator));
        }
        let items: Vec<_> = (0..items)
            .map(|_| {
                let (key, value) = (self.key(), self.flow(depth - 1));
                match self.random.below(8) {
                    0 => key,
                    1 => format!("{key}:"),
                    2 => format!("? {key} : {value}"),
                    3 => format!("\"{}\":{value}", key.replace(['"', '\\'], "")),
                    _ => format!("{key}: {value}"),
                }
            })
            .collect();
        format!("{{{}}}", items.join(separator))
    }

    fn flow_scalar(&mut self) -> String {
        let properties = self.properties();
        let scalar = if self.random.below(3) == 0 { self.quoted() } else { self.scalar() };
        format!("{properties}{scalar}")
    }

    /// The text with one place changed.
    fn damaged(&mut self, text: &str) -> String {
        let mut characters: Vec<char> = text.chars().collect();
        let place = self.random.below(characters.len().max(1));
        let inserted = self.random.of(&[
            " ", "\t", "\n", ":", "-", "?", ",", "[", "]", "{", "}", "#", "&", "*", "!", "|", ">", "'", "\"",
            "%", "@", "`", "\\", ": ", "- ", " #", "? ", "!a,", "\r", "\u{85}", "\u{feff}", "\n---\n",
            "\n...\n", "<<: ", "é", "0",
        ]);
        match self.random.below(3) {
            0 if !characters.is_empty() => drop(characters.remove(place.min(characters.len() - 1))),
            1 if !characters.is_empty() => drop(characters.splice(place..=place, inserted.chars())),
            _ => drop(characters.splice(place..place, inserted.chars())),
        }
        characters.into_iter().collect()
    }
}

//! Text from elsewhere: the answer of a daemon that was started somewhere, and tokens.

#[allow(dead_code)]
#[path = "../../crates/pvmd/src/launch/reply.rs"]
mod reply;
#[allow(dead_code)]
#[path = "../../crates/pvmd/src/launch/token.rs"]
mod token;

pub(crate) fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = reply::answer_in(&text);
    if let Ok(token) = token::Token::from_text(&text) {
        let again = String::from_utf8(token.to_text().0.clone()).expect("hexadecimal is text");
        assert_eq!(token::Token::from_text(&again).ok(), Some(token));
    }
}

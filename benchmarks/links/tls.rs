//! tls: what a bare TLS connection does, to compare with.
//!
//! ```text
//! tls serve PORT
//! tls loop ADDRESS PORT BYTES SECONDS    BYTES there and back, again and again
//! ```
//! Prints the bytes, round trips, one way in us (median of the batches) and GB/s, as `tcp loop`
//! does. TLS 1.3 of rustls with AES-128-GCM, over a blocking socket; nothing is packed, nothing is
//! kept. Whose key it is does not matter here, so both ends take any.
#![forbid(unsafe_code)]

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{
    CipherSuite, ClientConfig, ClientConnection, DigitallySignedStruct, Error, ServerConfig,
    ServerConnection, SignatureScheme, StreamOwned,
};
use std::error;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

const BATCHES_MAX: usize = 4000;

type Result<T> = std::result::Result<T, Box<dyn error::Error>>;

fn provider() -> Arc<CryptoProvider> {
    let mut provider = ring::default_provider();
    provider.cipher_suites.retain(|suite| suite.suite() == CipherSuite::TLS13_AES_128_GCM_SHA256);
    Arc::new(provider)
}

fn server() -> Result<Arc<ServerConfig>> {
    let random = ::ring::rand::SystemRandom::new();
    let key = ::ring::signature::Ed25519KeyPair::generate_pkcs8(&random)
        .map_err(|_| "no random numbers")?;
    let signing = ring::sign::any_eddsa_type(&PrivatePkcs8KeyDer::from(key.as_ref()))?;
    let public = signing.public_key().ok_or("a key without its public half")?.to_vec();
    let key = Arc::new(CertifiedKey::new(vec![CertificateDer::from(public)], signing));
    let config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(key)));
    Ok(Arc::new(config))
}

fn client() -> Result<Arc<ClientConfig>> {
    let config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyKey))
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// Takes every key: this measures speed.
#[derive(Debug)]
struct AnyKey;

impl ServerCertVerifier for AnyKey {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }
    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, Error> {
        Err(Error::General("only TLS 1.3".to_owned()))
    }
    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

/// Sends back what comes: first the size as four bytes, then messages of it.
fn serve_one(stream: TcpStream, config: Arc<ServerConfig>) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = StreamOwned::new(ServerConnection::new(config)?, stream);
    let mut size = [0; 4];
    stream.read_exact(&mut size)?;
    let mut data = vec![0; usize::try_from(u32::from_le_bytes(size))?];
    loop {
        stream.read_exact(&mut data)?;
        stream.write_all(&data)?;
        stream.flush()?;
    }
}

fn serve(port: u16) -> Result<()> {
    let config = server()?;
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))?;
    println!("ready");
    for stream in listener.incoming() {
        // Its end is the end of the measurement.
        let _ = serve_one(stream?, config.clone());
    }
    Ok(())
}

fn measure(address: Ipv4Addr, port: u16, bytes: u32, seconds: f64) -> Result<()> {
    let stream = TcpStream::connect((address, port))?;
    stream.set_nodelay(true)?;
    let connection = ClientConnection::new(client()?, ServerName::from(address))?;
    let mut stream = StreamOwned::new(connection, stream);
    stream.write_all(&bytes.to_le_bytes())?;
    let mut data = vec![77; usize::try_from(bytes)?];
    let batch = match bytes {
        0..4000 => 200,
        4000..400_000 => 20,
        _ => 4,
    };
    let mut one_way_us = Vec::new();
    let mut end = None;
    while end.is_none_or(|end| Instant::now() < end) && one_way_us.len() < BATCHES_MAX {
        let start = Instant::now();
        for _ in 0..batch {
            stream.write_all(&data)?;
            stream.flush()?;
            stream.read_exact(&mut data)?;
        }
        let spent = start.elapsed();
        // The first batch warms up.
        if end.is_none() {
            end = Some(Instant::now() + Duration::from_secs_f64(seconds));
        } else {
            one_way_us.push(spent.as_secs_f64() * 1e6 / f64::from(2 * batch));
        }
    }
    one_way_us.sort_by(f64::total_cmp);
    let median = one_way_us.get(one_way_us.len() / 2).copied().ok_or("no time")?;
    let trips = one_way_us.len() * usize::try_from(batch)?;
    println!("{bytes}\t{trips}\t{median:.3}\t{:.3}", f64::from(bytes) / median / 1000.0);
    Ok(())
}

fn run(words: &[&str]) -> Result<()> {
    match words {
        ["serve", port] => serve(port.parse()?),
        ["loop", address, port, bytes, seconds] => {
            measure(address.parse()?, port.parse()?, bytes.parse()?, seconds.parse()?)
        }
        _ => Err("usage: tls serve PORT | tls loop ADDRESS PORT BYTES SECONDS".into()),
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tls: {error}");
            ExitCode::FAILURE
        }
    }
}

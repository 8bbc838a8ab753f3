//! The security of connections to a daemon: TLS 1.3 between keys that both sides know by their
//! fingerprints.
//!
//! A daemon's identity is a key, made when it starts and kept by its parent. Hosts present the
//! bare public key (RFC 7250): there is no authority, no name and no date to be wrong about, and
//! nothing of a stranger's is parsed but a key of 44 bytes.

use anyhow::{Context as _, Result, anyhow};
use pvm_wire::route::{Cipher, RecordKey, Secret};
use ring::digest;
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::Ed25519KeyPair;
use rustls::client::AlwaysResolvesClientRawPublicKeys;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{
    CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{
    CipherSuite, ClientConfig, ConnectionTrafficSecrets, DigitallySignedStruct, DistinguishedName,
    Error, ExtractedSecrets, ServerConfig, SignatureScheme,
};
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

/// Names the protocol of connections that two tasks shall have.
const DIRECT: &[u8] = b"neopvm-direct";

/// SHA-256 of a public key in its standard form.
pub(crate) type Fingerprint = Vec<u8>;

/// A new private key, to be kept.
pub(crate) fn new_key() -> Result<Vec<u8>> {
    let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new());
    Ok(key.map_err(|_| anyhow!("no random numbers for a key"))?.as_ref().to_vec())
}

/// This many bytes that cannot be guessed.
pub(crate) fn new_secret<const BYTES: usize>() -> Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| anyhow!("no random numbers"))?;
    Ok(bytes)
}

/// A number that cannot be guessed.
pub(crate) fn new_number() -> Result<u64> {
    let bytes = ring::rand::generate::<[u8; 8]>(&SystemRandom::new());
    Ok(u64::from_le_bytes(bytes.map_err(|_| anyhow!("no random numbers"))?.expose()))
}

fn fingerprint_of(public_key: &[u8]) -> Fingerprint {
    digest::digest(&digest::SHA256, public_key).as_ref().to_vec()
}

/// The keys that may connect.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllowedKeys {
    keys: Arc<RwLock<BTreeSet<Fingerprint>>>,
    /// All keys: what their owners may do is decided by something else.
    all: bool,
}

impl AllowedKeys {
    /// From now on these and no others.
    pub(crate) fn set(&self, fingerprints: BTreeSet<Fingerprint>) {
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = fingerprints;
    }

    /// Any key, for bearers of tokens.
    pub(crate) fn anybody() -> Self {
        Self { all: true, ..Self::default() }
    }

    fn contains(&self, fingerprint: &Fingerprint) -> bool {
        self.all || self.keys.read().unwrap_or_else(PoisonError::into_inner).contains(fingerprint)
    }
}

/// This daemon's key, and what is made with it.
#[derive(Debug)]
pub(crate) struct Identity {
    key: Arc<CertifiedKey>,
    provider: Arc<CryptoProvider>,
    fingerprint: Fingerprint,
}

impl Identity {
    /// From a kept key.
    pub(crate) fn new(key: &[u8]) -> Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivatePkcs8KeyDer::from(key);
        let signing = rustls::crypto::ring::sign::any_eddsa_type(&key)?;
        let public = signing.public_key().context("a key without its public half")?.to_vec();
        let fingerprint = fingerprint_of(&public);
        let key = Arc::new(CertifiedKey::new(vec![CertificateDer::from(public)], signing));
        Ok(Self { key, provider, fingerprint })
    }

    /// The fingerprint by which others know it.
    pub(crate) const fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// For incoming connections: any of the known keys.
    pub(crate) fn server(&self, known: &AllowedKeys) -> Result<Arc<ServerConfig>> {
        let verifier = self.verifier(known);
        let mut config = ServerConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(Arc::new(verifier))
            .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(self.key.clone())));
        // Every connection proves its key anew: a host that was removed has no ticket left.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        config.alpn_protocols = vec![DIRECT.to_vec()];
        config.enable_secret_extraction = true;
        Ok(Arc::new(config))
    }

    /// For a connection to the owner of one key that two tasks shall have.
    pub(crate) fn direct_client(&self, fingerprint: &Fingerprint) -> Result<Arc<ClientConfig>> {
        let mut provider = (*self.provider).clone();
        // Ciphers that this processor does quickly come first; the server follows.
        let quick = if has_aes() {
            CipherSuite::TLS13_AES_128_GCM_SHA256
        } else {
            CipherSuite::TLS13_CHACHA20_POLY1305_SHA256
        };
        provider.cipher_suites.sort_by_key(|suite| suite.suite() != quick);
        let mut config = self.client_with(Arc::new(provider), fingerprint)?;
        config.alpn_protocols = vec![DIRECT.to_vec()];
        config.enable_secret_extraction = true;
        Ok(Arc::new(config))
    }

    /// For connecting to the owner of one key.
    pub(crate) fn client(&self, fingerprint: &Fingerprint) -> Result<Arc<ClientConfig>> {
        self.client_with(self.provider.clone(), fingerprint).map(Arc::new)
    }

    fn client_with(
        &self,
        provider: Arc<CryptoProvider>,
        fingerprint: &Fingerprint,
    ) -> Result<ClientConfig> {
        let known = AllowedKeys::default();
        known.set(BTreeSet::from([fingerprint.clone()]));
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(self.verifier(&known)))
            .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(
                self.key.clone(),
            )));
        config.resumption = rustls::client::Resumption::disabled();
        config.enable_sni = false;
        Ok(config)
    }

    fn verifier(&self, known: &AllowedKeys) -> Pinned {
        Pinned { known: known.clone(), provider: self.provider.clone() }
    }
}

/// True where the processor has instructions for AES.
fn has_aes() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("aes");
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("aes");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    return false;
}

/// True for a connection that two tasks shall have.
pub(crate) fn is_direct(connection: &rustls::CommonState) -> bool {
    connection.alpn_protocol() == Some(DIRECT)
}

/// The two keys that seal and open the records of a connection from here on, ours first.
pub(crate) fn record_keys(secrets: ExtractedSecrets) -> (RecordKey, RecordKey) {
    let key = |(sequence, secrets): (u64, ConnectionTrafficSecrets)| {
        let (cipher, key, iv) = match secrets {
            ConnectionTrafficSecrets::Aes128Gcm { key, iv } => (Cipher::Aes128, key, iv),
            ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (Cipher::Aes256, key, iv),
            ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (Cipher::ChaCha20, key, iv),
            _ => unreachable!("TLS 1.3 of this version has these three"),
        };
        let (key, iv) = (Secret(key.as_ref().to_vec()), Secret(iv.as_ref().to_vec()));
        RecordKey { cipher, key, iv, sequence }
    };
    (key(secrets.tx), key(secrets.rx))
}

/// The fingerprint that the other side of a connection has proved to own.
pub(crate) fn peer_fingerprint(connection: &rustls::CommonState) -> Option<Fingerprint> {
    connection.peer_certificates()?.first().map(|key| fingerprint_of(key))
}

/// Accepts known keys; that the peer owns its key is checked by the handshake's signature.
#[derive(Debug)]
struct Pinned {
    known: AllowedKeys,
    provider: Arc<CryptoProvider>,
}

impl Pinned {
    fn check(&self, public_key: &[u8], rest: &[CertificateDer<'_>]) -> Result<(), Error> {
        if rest.is_empty() && self.known.contains(&fingerprint_of(public_key)) {
            return Ok(());
        }
        Err(Error::General("the key is not one of this machine's".to_owned()))
    }

    fn check_signature(
        &self,
        message: &[u8],
        public_key: &[u8],
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(public_key);
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature_with_raw_key(message, &key, signature, algorithms)
    }

    fn schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

fn no_tls12() -> Result<HandshakeSignatureValid, Error> {
    Err(Error::General("only TLS 1.3".to_owned()))
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity, intermediates).map(|()| ServerCertVerified::assertion())
    }
    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        no_tls12()
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, cert, dss)
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }
    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity, intermediates).map(|()| ClientCertVerified::assertion())
    }
    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        no_tls12()
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, cert, dss)
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::frames::LinkFrame;
    use crate::link::intake::BEAT_BYTES;
    use rustls::{ClientConnection, ServerConnection};
    use std::io::Write as _;

    fn identity() -> Identity {
        Identity::new(&new_key().unwrap()).unwrap()
    }

    /// Lets two ends talk in memory until neither has more to say.
    fn handshake(
        client: Arc<ClientConfig>,
        server: Arc<ServerConfig>,
    ) -> Result<(ClientConnection, ServerConnection), Error> {
        let name = ServerName::from(std::net::Ipv4Addr::LOCALHOST);
        let mut client = ClientConnection::new(client, name).unwrap();
        let mut server = ServerConnection::new(server).unwrap();
        while client.wants_write() || server.wants_write() {
            let mut wire = Vec::new();
            client.write_tls(&mut wire).unwrap();
            server.read_tls(&mut &wire[..]).unwrap();
            server.process_new_packets()?;
            let mut wire = Vec::new();
            server.write_tls(&mut wire).unwrap();
            client.read_tls(&mut &wire[..]).unwrap();
            client.process_new_packets()?;
        }
        Ok((client, server))
    }

    #[test]
    fn hosts_that_know_each_other_prove_their_keys() {
        let (a, b) = (identity(), identity());
        let known = AllowedKeys::default();
        known.set(BTreeSet::from([a.fingerprint().clone()]));
        let (client, server) = (a.client(b.fingerprint()).unwrap(), b.server(&known).unwrap());
        let (client, server) = handshake(client, server).unwrap();
        assert!(!client.is_handshaking() && !server.is_handshaking());
        assert_eq!(peer_fingerprint(&server).as_ref(), Some(a.fingerprint()));
        assert_eq!(peer_fingerprint(&client).as_ref(), Some(b.fingerprint()));
    }

    #[test]
    fn a_beat_has_the_length_that_its_receiver_expects() {
        let (a, b) = (identity(), identity());
        let known = AllowedKeys::default();
        known.set(BTreeSet::from([a.fingerprint().clone()]));
        let (client, server) = (a.client(b.fingerprint()).unwrap(), b.server(&known).unwrap());
        let (mut client, mut server) = handshake(client, server).unwrap();
        let (mut beat, mut wire) = (Vec::new(), Vec::new());
        pvm_wire::write_frame(&mut beat, 0, &LinkFrame::Beat);
        client.writer().write_all(&beat).unwrap();
        client.write_tls(&mut wire).unwrap();
        assert_eq!(wire.len(), BEAT_BYTES);
        wire.clear();
        server.writer().write_all(&beat).unwrap();
        server.write_tls(&mut wire).unwrap();
        assert_eq!(wire.len(), BEAT_BYTES);
    }

    #[test]
    fn a_stranger_is_refused_on_either_side() {
        let (a, b, stranger) = (identity(), identity(), identity());
        let known = AllowedKeys::default();
        known.set(BTreeSet::from([a.fingerprint().clone()]));
        let server = b.server(&known).unwrap();
        let client = stranger.client(b.fingerprint()).unwrap();
        assert!(handshake(client, server.clone()).is_err());
        let client = a.client(stranger.fingerprint()).unwrap();
        assert!(handshake(client, server.clone()).is_err());
        known.set(BTreeSet::new());
        let client = a.client(b.fingerprint()).unwrap();
        assert!(handshake(client, server).is_err());
    }

    #[test]
    fn a_known_key_does_not_help_who_does_not_own_it() {
        let (a, b, thief) = (identity(), identity(), identity());
        let known = AllowedKeys::default();
        known.set(BTreeSet::from([a.fingerprint().clone()]));
        // Shows the key of `a`, signs with its own.
        let stolen = CertifiedKey::new(a.key.cert.clone(), thief.key.key.clone());
        let thief = Identity { key: Arc::new(stolen), ..thief };
        let client = thief.client(b.fingerprint()).unwrap();
        assert!(handshake(client, b.server(&known).unwrap()).is_err());
    }

    #[test]
    fn no_other_bytes_are_a_handshake() {
        let mut server =
            ServerConnection::new(identity().server(&AllowedKeys::default()).unwrap()).unwrap();
        server.read_tls(&mut &b"GET / HTTP/1.1\r\n\r\n"[..]).unwrap();
        assert!(server.process_new_packets().is_err());
    }
}

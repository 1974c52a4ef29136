import { createHash, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Server as TlsServer } from 'node:https'
import { createSecureContext, TLSSocket } from 'node:tls'
import type { Config } from '@svc/contract/config'
import { fail } from '@svc/contract/errors'
import { Loop, type LoopTools } from '@svc/platform/loop'
import { certificateExpiry, type Metrics } from '@svc/platform/metrics'
import type { FastifyInstance, FastifyRequest } from 'fastify'

type Files = Pick<Config, 'TLS_CERT_FILE' | 'TLS_KEY_FILE' | 'RAIL_CLIENT_CA_FILE'>

/** How often the files are read again. Watching them would miss certificates that are replaced by a symbolic link. */
const RELOAD_MS = 5_000

interface Certificate {
  readonly cert: Buffer
  readonly key: Buffer
  /** With RAIL_CLIENT_CA_FILE: whose client certificates are trusted. */
  readonly ca?: Buffer
  /** A certificate that is itself in the file is trusted, whatever its issuer. */
  readonly allowPartialTrustChain?: true
}

interface ListenerOptions extends Certificate {
  readonly requestCert?: true
  /** Only rails need a client certificate, and which route is called shows after the handshake. */
  readonly rejectUnauthorized?: false
}

const isPair = (files: Files): files is Files & { TLS_CERT_FILE: string; TLS_KEY_FILE: string } =>
  files.TLS_CERT_FILE !== undefined && files.TLS_KEY_FILE !== undefined

const trusting = (ca: Buffer | undefined) => ca && ({ ca, allowPartialTrustChain: true } as const)

/** Options of the listener: without certificate files it speaks plain HTTP. */
export function tlsOptions(config: Config): ListenerOptions | undefined {
  if (!isPair(config)) return undefined
  try {
    const pair = { cert: readFileSync(config.TLS_CERT_FILE), key: readFileSync(config.TLS_KEY_FILE) }
    createSecureContext(pair)
    const clients = clientCa(config)
    return { ...pair, ...(clients && { ...clients, requestCert: true, rejectUnauthorized: false }) }
  } catch (error) {
    if (error instanceof ClientCaUnusable) throw error
    const { message } = error as Error
    throw new Error(`TLS_CERT_FILE and TLS_KEY_FILE cannot be used: ${message}`, { cause: error })
  }
}

class ClientCaUnusable extends Error {}

/** Reads the file once at the start, so that a wrong one is found then. */
function clientCa({ RAIL_CLIENT_CA_FILE: file }: Files): ReturnType<typeof trusting> {
  if (file === undefined) return undefined
  try {
    return trusting(expectCertificates(readFileSync(file)))
  } catch (error) {
    throw new ClientCaUnusable(`RAIL_CLIENT_CA_FILE cannot be used: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

/** Node accepts a text without any certificate, which trusts none. */
function expectCertificates(pem: Buffer): Buffer {
  createSecureContext({ ca: pem })
  const { raw } = new X509Certificate(pem)
  return raw.length > 0 ? pem : raw
}

/**
 * Lets requests pass whose connection has a trusted client certificate. Requests of the service to itself have no
 * connection. The signature of each notice is checked besides.
 */
export function requireClientCertificate({ raw: { socket } }: FastifyRequest): void {
  if (!(socket instanceof TLSSocket)) return
  // Node counts a resumed session of TLS 1.3 as authorized also without a certificate (`VerifyPeerCertificate` in its crypto).
  if (!socket.authorized || socket.getPeerX509Certificate() === undefined)
    fail('invalid_signature', {
      description: 'The connection has no client certificate that RAIL_CLIENT_CA_FILE trusts',
    })
}

/**
 * Puts new certificate files to use for new connections. While the two do not fit each other, as in the middle of a
 * renewal, the loop fails, reports it and tries again, and the certificate in use stays.
 */
export function certificateLoop(
  app: FastifyInstance,
  { config, metrics, log }: LoopTools & { config: Config; metrics: Metrics },
): Loop | undefined {
  if (!isPair(config)) return undefined
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, RAIL_CLIENT_CA_FILE: caFile } = config
  const expiry = certificateExpiry(metrics.registry)
  let used: string | undefined
  const work = async () => {
    const [cert, key, ca] = await Promise.all([
      readFile(certFile),
      readFile(keyFile),
      caFile && readFile(caFile),
    ])
    const digest = createHash('sha256')
      .update(cert)
      .update(key)
      .update(ca ?? '')
      .digest('hex')
    if (digest === used) return
    const context = { cert, key, ...(ca && trusting(expectCertificates(ca))) }
    createSecureContext(context)
    ;(app.server as unknown as TlsServer).setSecureContext(context)
    expiry.set(Date.parse(new X509Certificate(cert).validTo) / 1_000)
    used = digest
  }
  return new Loop({ name: 'tls_certificate', everyMs: RELOAD_MS, atStart: true, work }, { log, metrics })
}

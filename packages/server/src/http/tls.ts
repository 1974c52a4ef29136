import { createHash, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Server as TlsServer } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { Config } from '@svc/contract/config'
import { Loop, type LoopTools } from '@svc/platform/loop'
import { certificateExpiry, type Metrics } from '@svc/platform/metrics'
import type { FastifyInstance } from 'fastify'

type Files = Pick<Config, 'TLS_CERT_FILE' | 'TLS_KEY_FILE'>

/** How often the files are read again. Watching them would miss certificates that are replaced by a symbolic link. */
const RELOAD_MS = 5_000

interface Certificate {
  readonly cert: Buffer
  readonly key: Buffer
}

const isPair = (files: Files): files is { TLS_CERT_FILE: string; TLS_KEY_FILE: string } =>
  files.TLS_CERT_FILE !== undefined && files.TLS_KEY_FILE !== undefined

/** Options of the listener: without certificate files it speaks plain HTTP. */
export function tlsOptions(config: Config): Certificate | undefined {
  if (!isPair(config)) return undefined
  try {
    const pair = { cert: readFileSync(config.TLS_CERT_FILE), key: readFileSync(config.TLS_KEY_FILE) }
    createSecureContext(pair)
    return pair
  } catch (error) {
    const { message } = error as Error
    throw new Error(`TLS_CERT_FILE and TLS_KEY_FILE cannot be used: ${message}`, { cause: error })
  }
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
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = config
  const expiry = certificateExpiry(metrics.registry)
  let used: string | undefined
  const work = async () => {
    const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)])
    const digest = createHash('sha256').update(cert).update(key).digest('hex')
    if (digest === used) return
    createSecureContext({ cert, key })
    ;(app.server as unknown as TlsServer).setSecureContext({ cert, key })
    expiry.set(Date.parse(new X509Certificate(cert).validTo) / 1_000)
    used = digest
  }
  return new Loop({ name: 'tls_certificate', everyMs: RELOAD_MS, atStart: true, work }, { log, metrics })
}

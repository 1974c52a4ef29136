import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Stands in for HashiCorp Vault: speaks the wire format of `POST /v1/<mount>/decrypt/<key>`, with the statuses and error
 * bodies of its HTTP API. It encrypts nothing: a ciphertext is a name for a plaintext that it was given.
 */
export class VaultStandIn {
  readonly #server: Server
  readonly #plaintexts = new Map<string, string>()
  /** The one that is valid now. */
  token = 'hvs.stand-in-0123456789'
  readonly namespace = 'payments'
  sealed = false
  /** Requests that it has unwrapped a key for. */
  unwrapped = 0

  private constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const { status, body } = this.#decrypt(
          `${request.method} ${request.url}`,
          request.headers,
          Buffer.concat(parts).toString(),
        )
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      })
    })
  }

  static async open(): Promise<VaultStandIn> {
    const vault = new VaultStandIn()
    await new Promise<void>((resolve) => vault.#server.listen(0, '127.0.0.1', resolve))
    return vault
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The settings with which the service finds it, and a master key that it wraps. */
  settings(masterKey: string): Record<string, string> {
    return {
      SVC_MASTER_KEY_WRAPPED: this.wrap(masterKey),
      VAULT_ADDR: this.address,
      VAULT_TOKEN: this.token,
      VAULT_NAMESPACE: this.namespace,
      VAULT_TRANSIT_MOUNT: 'keys/transit',
      VAULT_TRANSIT_KEY: 'svc-live',
      VAULT_CHECK_SECONDS: '1',
    }
  }

  wrap(plaintext: string): string {
    const ciphertext = `vault:v1:${Buffer.from(`wrapped ${this.#plaintexts.size}`).toString('base64')}`
    this.#plaintexts.set(ciphertext, plaintext)
    return ciphertext
  }

  #decrypt(line: string, headers: NodeJS.Dict<string | string[]>, text: string) {
    const error = (status: number, message: string) => ({ status, body: { errors: [message] } })
    if (this.sealed) return error(503, 'Vault is sealed')
    if (headers['x-vault-token'] !== this.token || headers['x-vault-namespace'] !== this.namespace)
      return error(403, 'permission denied')
    if (line !== 'POST /v1/keys/transit/decrypt/svc-live') return { status: 404, body: { errors: [] } }
    const { ciphertext } = JSON.parse(text) as { ciphertext: string }
    const plaintext = this.#plaintexts.get(ciphertext)
    if (plaintext === undefined) return error(400, 'cipher: message authentication failed')
    this.unwrapped++
    return { status: 200, body: { request_id: 'stand-in', data: { plaintext } } }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

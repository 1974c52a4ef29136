import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { CLIENT } from './identity-provider.ts'

/** An identity provider that returns whatever id token a test makes, for any code. */
export interface ForgingProvider {
  readonly issuer: string
  readonly env: Readonly<Record<string, string>>
  /** The id token of the next response; `signed` makes one by the provider's own key. */
  idToken: string
  signed(claims: JWTPayload): Promise<string>
  /** Parameters of the last request to the token endpoint. */
  tokenRequest: URLSearchParams
  /** Status of the token endpoint instead of a token, with a body that is no JSON; 0 breaks the connection. */
  fails: number | undefined
  close(): Promise<void>
}

const BASE64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
/** A token without a signature (RFC 7519 section 6). */
export const unsigned = (claims: JWTPayload): string => `${BASE64({ alg: 'none' })}.${BASE64(claims)}.`

export async function openForgingProvider(): Promise<ForgingProvider> {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const server = createServer((request, response) => {
    const json = (body: unknown) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(body))
    }
    if (request.url?.startsWith('/.well-known/')) return json(metadataOf(bed.issuer))
    if (request.url === '/keys') return json({ keys: [jwk] })
    let text = ''
    request.on('data', (part) => (text += String(part)))
    request.on('end', () => {
      bed.tokenRequest = new URLSearchParams(text)
      if (bed.fails === undefined)
        return json({ access_token: 'a', token_type: 'bearer', id_token: bed.idToken })
      if (bed.fails === 0) return void request.socket.destroy()
      response.writeHead(bed.fails, { 'content-type': 'text/html' }).end('<h1>Sorry</h1>')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const bed: ForgingProvider = {
    issuer,
    env: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret },
    idToken: '',
    tokenRequest: new URLSearchParams(),
    fails: undefined,
    signed: (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(privateKey),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return bed
}

const metadataOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  // It would sign nothing, if it were asked.
  id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
})

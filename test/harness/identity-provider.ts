import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { Provider } from 'oidc-provider'

export const CLIENT = { id: 'svc-console', secret: 'a secret of the console' } as const

/** Who is signed in at the provider. */
export interface Account {
  readonly sub: string
  readonly [claim: string]: unknown
}

/** `oidc-provider` on loopback: it signs in its `account` without a question. */
export interface TestIdentityProvider {
  readonly issuer: string
  account: Account
  /** Refuses the next sign-ins, as when the person presses “cancel”. */
  refuses: boolean
  /** Settings of a service that uses it. */
  readonly env: Readonly<Record<string, string>>
  close(): Promise<void>
}

/** `redirectUri`: of the service, whose address is known later than the provider's. */
export async function openIdentityProvider(redirectUri: () => string): Promise<TestIdentityProvider> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const bed = {
    issuer,
    account: { sub: 'none' } as Account,
    refuses: false,
    env: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret },
    close: () => closed(server),
  }
  let provider: Provider | undefined
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void (async () => {
      provider ??= await newProvider(issuer, redirectUri(), () => bed.account)
      if (!request.url?.startsWith('/interaction/')) return provider.callback()(request, response)
      const result = bed.refuses
        ? { error: 'access_denied', error_description: 'cancelled' }
        : { login: { accountId: bed.account.sub, remember: false } }
      await provider.interactionFinished(request, response, result)
    })()
  })
  return bed
}

async function newProvider(issuer: string, redirectUri: string, account: () => Account): Promise<Provider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk: JWK = { ...(await exportJWK(privateKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  return new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [jwk as never] },
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['preferred_username'] },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      Grant: 600,
      IdToken: 600,
      Interaction: 600,
      Session: 600,
    },
    cookies: { keys: ['test'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ ...account(), sub }) }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ accountId: oidc.session!.accountId!, clientId: CLIENT.id })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })

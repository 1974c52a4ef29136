// oidc-provider answering client credentials with a signed JWT, its default store in memory.
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'

const server = createServer()
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const baseUrl = `http://127.0.0.1:${port}`
  const provider = new Provider(baseUrl, {
    clients: [
      {
        client_id: 'bench',
        client_secret: 'bench-secret',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: 'client_secret_post',
        id_token_signed_response_alg: 'EdDSA',
      },
    ],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => 'urn:bench',
        getResourceServerInfo: () => ({
          scope: '',
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'EdDSA' } },
        }),
      },
    },
    jwks: { keys: [JSON.parse(process.env.SIGNING_JWK ?? '')] },
  })
  const handle = provider.callback()
  server.on('request', (request, response) => void handle(request, response))
  console.log(JSON.stringify({ msg: 'ready', baseUrl }))
})

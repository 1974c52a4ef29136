import { expect } from 'vitest'
import type { ApiResponse } from './client.ts'
import type { Browser } from './console.ts'
import { FORM, newPartner } from './partner.ts'
import type { TestService } from './service.ts'

/** Documentation addresses (RFC 5737, RFC 3849), which the proxy on loopback reports. */
export const OFFICE = '203.0.113.7'
export const ELSEWHERE = '198.51.100.9'
const from = (address: string) => ({ 'x-forwarded-for': address })

/** Behind a proxy, and of one issuer: a token of one process is a token of all. */
export const BEHIND_PROXY = { TRUST_PROXY: '127.0.0.1', PUBLIC_URL: 'http://svc.example' }

export interface Programs {
  readonly kind: 'merchant' | 'partner'
  readonly tenantId: string
  readonly credentialId: string
  /** A read that the programs make with their token. */
  readonly path: string
  /** Asks for a token from an address; the secret is the programs' own by default. */
  readonly requestToken: (
    of: TestService,
    address: string,
    secret?: string,
  ) => Promise<ApiResponse & { token: string }>
}

export async function merchantPrograms(service: TestService): Promise<Programs> {
  const { apiKey, apiKeyId, merchantId } = await service.newMerchant()
  return {
    kind: 'merchant',
    tenantId: merchantId,
    credentialId: apiKeyId,
    path: '/api/v0/payments',
    requestToken: async ({ client }, address, secret = apiKey) => {
      const headers = { 'api-key': secret, ...from(address) }
      const response = await client.send('POST', '/api/v0/merchant/token', undefined, headers)
      return { ...response, token: response.json.token }
    },
  }
}

export async function partnerPrograms(service: TestService): Promise<Programs> {
  const { clientId, clientSecret, partnerId } = await newPartner(service)
  return {
    kind: 'partner',
    tenantId: partnerId,
    credentialId: clientId,
    path: '/api/v0/partner/companies',
    requestToken: async ({ client }, address, secret = clientSecret) => {
      const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: secret }
      const body = new URLSearchParams(form).toString()
      const response = await client.send('POST', '/oauth/token', body, { ...FORM, ...from(address) })
      return { ...response, token: response.json.access_token }
    },
  }
}

export const KINDS = [
  ['an API key', merchantPrograms],
  ['an OAuth client', partnerPrograms],
] as const

/** Sets the limits of the credential, which has none beside those that are given. */
export async function limitTo(
  operations: Browser,
  { tenantId, credentialId }: Pick<Programs, 'tenantId' | 'credentialId'>,
  limits: object,
): Promise<void> {
  const path = `/tenants/${tenantId}/credentials/${credentialId}/limits`
  const { status, text } = await operations.send('PUT', path, { addresses: [], scopes: [], ...limits })
  expect(status, text).toBe(200)
}

export const bearer = (token: string, address: string) => ({
  authorization: `Bearer ${token}`,
  ...from(address),
})
export const use = ({ client }: TestService, path: string, token: string, address: string) =>
  client.get(path, bearer(token, address))
export const outcome = ({ status, error, json }: ApiResponse) => error ?? json?.error ?? status

import { SCOPES } from '@svc/contract/scopes'
import type { TokenServices } from '../access/authenticate.ts'
import { sessionCookie } from '../access/partner-session.ts'
import type { Found } from './reference-records.ts'
import type { ReferenceTenants } from './reference-tenants.ts'

/** What the page of the reference sends. */
export interface ReferenceCredentials {
  /** `undefined` while the API key in `reference.json` does not work. */
  readonly merchantToken: string | undefined
  /** `undefined` while the OAuth client does not. */
  readonly partner: { readonly token: string; readonly cookie: string } | undefined
}

/** Signs tokens as the operations that issue them do, but notes no use of a credential: reading the reference writes nothing. */
export function referenceCredentials(
  services: TokenServices,
  { merchant, partner }: ReferenceTenants,
  { apiKeyId, clientId }: Found,
): ReferenceCredentials {
  const { accessTokens } = services
  const ofMerchant = {
    tenantId: merchant.merchantId,
    kind: 'merchant',
    accessKey: merchant.accessKey,
  } as const
  const scope = Object.keys(SCOPES).join(' ')
  const ofPartner = { tenantId: partner.partnerId, kind: 'partner', scope } as const
  const issued = clientId === null ? undefined : accessTokens.issue({ ...ofPartner, credentialId: clientId })
  return {
    merchantToken:
      apiKeyId === null ? undefined : accessTokens.issue({ ...ofMerchant, credentialId: apiKeyId }).token,
    partner: issued && {
      token: issued.token,
      cookie: sessionCookie(services, partner.partnerId, issued),
    },
  }
}

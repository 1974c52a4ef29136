import { Merchant, type MerchantOptions, Partner, type PartnerOptions } from '../../packages/sdk/src/index.ts'
import type { TestPartner } from './partner.ts'
import type { TestMerchant } from './service.ts'

/** The SDK's client of a test's merchant, at the service or at a proxy before it. */
export const merchantClient = (
  { baseUrl }: { readonly baseUrl: string },
  { apiKey }: Pick<TestMerchant, 'apiKey'>,
  options: Partial<MerchantOptions> = {},
): Merchant => new Merchant({ baseUrl, apiKey, ...options })

/** The partner's shared key, as `svc admin partner key issue-shared` prints it. */
export const sharedKeyOf = ({ sharedKey: { kid, alg, enc, key } }: TestPartner) => ({
  kid,
  alg,
  enc,
  k: key.export({ format: 'jwk' }).k!,
})

/** The SDK's client of a test's partner; it encrypts with the shared key unless told otherwise. */
export const partnerClient = (
  { baseUrl }: { readonly baseUrl: string },
  partner: TestPartner,
  options: Partial<PartnerOptions> = {},
): Partner => {
  const { partnerId, clientId, clientSecret } = partner
  return new Partner({
    baseUrl,
    partnerId,
    clientId,
    clientSecret,
    encryption: { sharedKey: sharedKeyOf(partner) },
    ...options,
  })
}

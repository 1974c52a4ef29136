import type { Client } from './client.ts'
import { FORM, type TestPartner } from './partner.ts'
import type { Recorder } from './recorder.ts'
import type { TestMerchant } from './service.ts'

interface Holders {
  readonly merchant: TestMerchant
  readonly partner: TestPartner
}

/** Examples of tokens, and of what may be read without one; `open` has no credentials. */
export async function recordAccess(
  recorder: Recorder,
  open: Client,
  { merchant, partner }: Holders,
): Promise<void> {
  const { apiKey } = merchant
  await recorder.works('issueMerchantToken', 'A token for an API key', open, {
    headers: { 'API-Key': apiKey },
  })
  const wrong = `${apiKey.slice(0, -1)}${apiKey.endsWith('0') ? '1' : '0'}`
  await recorder.fails('issueMerchantToken', 'invalid_api_key', 'A mistyped key', open, {
    headers: { 'API-Key': wrong },
  })
  const form = (secret: string, grant = 'client_credentials') => ({
    headers: FORM,
    body: `grant_type=${grant}&client_id=${partner.clientId}&client_secret=${secret}`,
  })
  await recorder.works('issuePartnerToken', 'Client credentials', open, form(partner.clientSecret))
  await recorder.fails('issuePartnerToken', 'invalid_client', 'A wrong secret', open, form('mistyped'))
  const password = form(partner.clientSecret, 'password')
  await recorder.fails('issuePartnerToken', 'unsupported_grant_type', 'Another grant', open, password)
  await recorder.works('oauthMetadata', 'What OAuth clients read', open)
  await recorder.works('getInterpretations', 'How this server reads the specification', open)
  await recorder.works('publishedKeys', 'Keys for tokens and for encryption', open)
}

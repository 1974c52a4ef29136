import type { Client } from './client.ts'
import type { TestPartner } from './partner.ts'
import type { Recorder } from './recorder.ts'

interface Callers {
  readonly issuer: Client
  readonly partner: TestPartner
}

const UNKNOWN = 'Not there, or not yours'

/** Companies, their users and their card accounts, as a partner registers them. */
export async function recordCompanies(recorder: Recorder, callers: Callers): Promise<void> {
  const { issuer } = callers
  const created = await recorder.works('createCompany', 'One of your customers', issuer, {
    body: { name: 'Acme Industries Private Limited' },
  })
  const { companyId } = created.json.payload
  const params = { companyId }
  const missing = { params: { companyId: 'com_nothing' } }
  await recorder.works('getCompany', 'One of them', issuer, { params })
  await recorder.fails('getCompany', 'company_not_found', UNKNOWN, issuer, missing)
  await recorder.works('listCompanies', 'Newest first', issuer, { query: { limit: '1' } })
  await recorder.fails('listCompanies', 'validation_failed', 'Too many at once', issuer, {
    query: { limit: '501' },
  })
  const body = { name: 'Acme Industries Limited' }
  await recorder.works('updateCompany', 'Its new legal name', issuer, { params, body })
  await recorder.fails('updateCompany', 'company_not_found', UNKNOWN, issuer, { ...missing, body })
  await users(recorder, callers, companyId)
  await newAccount(recorder, callers, companyId)
}

async function users(recorder: Recorder, { issuer }: Callers, companyId: string): Promise<void> {
  const asha = { companyId, firstName: 'Asha', lastName: 'Rao', mobile: '9876543210' }
  const created = await recorder.works('createUser', 'An employee', issuer, { body: asha })
  await recorder.fails('createUser', 'already_exists', 'The mobile number of another user', issuer, {
    body: asha,
  })
  await recorder.fails('createUser', 'company_not_found', UNKNOWN, issuer, {
    body: { ...asha, companyId: 'com_nothing' },
  })
  const params = { userId: created.json.payload.userId }
  const missing = { params: { userId: 'usr_nothing' } }
  await recorder.works('getUser', 'One of them', issuer, { params })
  await recorder.fails('getUser', 'user_not_found', UNKNOWN, issuer, missing)
  await recorder.works('listUsers', 'Of a company', issuer, { query: { companyId } })
  await recorder.fails('listUsers', 'validation_failed', 'A limit out of range', issuer, {
    query: { limit: '0' },
  })
  const body = { email: 'asha@example.com', title: null }
  await recorder.works('updateUser', 'A new e-mail address', issuer, { params, body })
  await recorder.fails('updateUser', 'user_not_found', UNKNOWN, issuer, { ...missing, body })
  await recorder.works('eraseUser', 'Who asked for it', issuer, { params })
  await recorder.fails('eraseUser', 'user_not_found', UNKNOWN, issuer, missing)
  await recorder.fails('updateUser', 'user_erased', 'Who is erased', issuer, { params, body })
}

async function newAccount(recorder: Recorder, { issuer }: Callers, companyId: string): Promise<void> {
  const body = {
    companyId,
    product: 'incentive',
    accountType: 'GIFT',
    binType: 'GIFT',
    cardProgramme: 'Festival gift cards',
    denomination: 500,
  }
  await recorder.works('createCardAccount', 'For gift cards of 500 rupees', issuer, { body })
  await recorder.fails('createCardAccount', 'company_not_found', UNKNOWN, issuer, {
    body: { ...body, companyId: 'com_nothing' },
  })
  await recorder.fails('createCardAccount', 'load_over_limit', 'More than a card may hold', issuer, {
    body: { ...body, denomination: 20_000 },
  })
}

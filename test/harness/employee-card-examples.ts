import { type Client, payloadOf } from './client.ts'
import { encryptFor, type TestPartner } from './partner.ts'
import type { Recorder } from './recorder.ts'

const JOB_NOT_FOUND = ['bulk_job_not_found', 'Not there, or not yours'] as const

/** Examples of cards for employees: ordered in bulk, and all of an account in one search. */
export async function recordEmployeeCards(
  recorder: Recorder,
  employer: Client,
  partner: TestPartner,
): Promise<void> {
  const { companyId, cardAccountId, partnerId } = partner
  const order = (firstName: string) =>
    encryptFor(partner, { companyId, cardAccountId, firstName, loadAmount: '500' })
  const headers = { partnerId }
  const lines = [await order('Sunita'), await order('Arjun')].join('\n')
  const upload = { headers: { ...headers, 'content-type': 'application/x-ndjson' }, body: lines }
  const { jobId } = payloadOf(await recorder.works('bulkIssueGiftCards', 'Two orders', employer, upload))
  const empty = { ...upload, body: ' ' }
  await recorder.fails('bulkIssueGiftCards', 'validation_failed', 'Nothing in it', employer, empty)
  const job = { params: { jobId }, headers }
  const missing = { params: { jobId: 'blk_nothing' }, headers }
  const path = `/api/v0/partner/svcCard/bulk/${jobId}`
  while (payloadOf(await employer.get(path)).status !== 'DONE');
  await recorder.works('getBulkJob', 'How far it is', employer, job)
  await recorder.fails('getBulkJob', ...JOB_NOT_FOUND, employer, missing)
  await recorder.works('listBulkResults', 'What became of each order', employer, {
    ...job,
    query: { limit: '10' },
  })
  await recorder.fails('listBulkResults', ...JOB_NOT_FOUND, employer, missing)
  const search = { headers, body: { companyId, cardAccountId } }
  await recorder.works('searchCards', 'Employee rewards: all cards of the account', employer, search)
}

import { done, results } from './bulk.ts'
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
  await recordBulkLoads(recorder, employer, { jobId, headers })
  const search = { headers, body: { companyId, cardAccountId } }
  await recorder.works('searchCards', 'Employee rewards: all cards of the account', employer, search)
}

/** One of the cards of the job is loaded again, twice under one reference. */
async function recordBulkLoads(
  recorder: Recorder,
  employer: Client,
  { jobId, headers }: { jobId: string; headers: Record<string, string> },
): Promise<void> {
  const [{ svcCardId }] = await results(employer, jobId)
  const load = (amount: number) => JSON.stringify({ svcCardId, amount, referenceNumber: 'april-42' })
  const ndjson = { ...headers, 'content-type': 'application/x-ndjson' }
  const upload = { headers: ndjson, body: [load(1500), load(1600)].join('\n') }
  const loads = payloadOf(await recorder.works('bulkLoadCards', 'Two lines', employer, upload))
  await recorder.fails('bulkLoadCards', 'validation_failed', 'Nothing in it', employer, {
    headers: ndjson,
    body: ' ',
  })
  await done(employer, loads.jobId)
  await recorder.works('listBulkResults', 'A reference names one load', employer, {
    params: { jobId: loads.jobId },
    headers,
    query: { limit: '10' },
  })
}

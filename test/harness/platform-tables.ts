/** Tables without row-level security, and what they contain instead of a tenant's data. */
export const PLATFORM_TABLES: Record<string, string> = {
  account_kinds: 'the chart of accounts',
  approval_limit: 'from which amount on a posting needs two people',
  batches: 'ids of transactions',
  book_closings: 'signed totals of the whole ledger',
  keyring: 'wrapped keys of the installation',
  tenants: 'ids and kinds of who exists',
  installation: 'the name of what the database holds',
  minute_sums: 'how many requests, payments and cards there were in a minute, of all tenants together',
  payout_steps: 'from which status a payout comes to which',
  posting_rules: 'which journals may move which accounts',
  request_log_cut: 'until when the row limit of the request log deleted entries',
  retired_postings: 'which movements old journals have',
  migrations: 'which ran',
  retention: 'how long rows are kept',
  sandbox_upi_notices: 'the simulated bank’s, sandbox only',
}

import type { SandboxFile } from './sandbox-file.ts'

interface Shown {
  readonly demo: SandboxFile | undefined
  readonly hasConsole: boolean
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const row = ([name, value]: readonly [name: string, value: string]): string =>
  `<tr><th>${name}</th><td><code>${escaped(value)}</code></td></tr>`
const link = (path: string, name: string, about: string): string =>
  `<li><a href="${path}">${name}</a>: ${about}</li>`

const credentialsOf = ({ merchant, incentivePartner, qrCodeId }: SandboxFile) =>
  [
    ['Merchant', merchant.merchantId],
    ['API key', merchant.apiKey],
    ['QR code', qrCodeId],
    ['Partner', incentivePartner.partnerId],
    ['Client id', incentivePartner.clientId],
    ['Client secret', incentivePartner.clientSecret],
    ['Company', incentivePartner.companyId],
    ['Card account', incentivePartner.cardAccountId],
  ] as const

/** The page at `/` of a sandbox: where everything is, and credentials to try it with. */
export function sandboxIndex({ demo, hasConsole }: Shown): string {
  const credentials = demo
    ? `<h2>Demo credentials</h2><table>
${credentialsOf(demo).map(row).join('\n')}
</table>
<h2>A first call</h2>
<pre>${escaped(`curl -s -X POST ${demo.baseUrl}/api/v0/merchant/token -H 'API-Key: ${demo.merchant.apiKey}'`)}</pre>`
    : '<p>The demo tenants are being created. Load this page again.</p>'
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>svc sandbox</title>
<style>:root{color-scheme:light dark}body{font:1rem/1.5 system-ui;max-width:44rem;margin:2rem auto;padding:0 1rem}
th{text-align:left;padding-right:1rem;font-weight:normal}pre,table{overflow-x:auto;display:block}code{word-break:break-all}</style>
<h1>svc sandbox</h1><p>This service runs in sandbox mode: the money, the bank and the payers are simulated.</p>
<ul>
${link('/docs', 'Reference', 'every operation, to try in the browser')}
${hasConsole ? link('/console', 'Console', 'for operators') : ''}
${link('/openapi.json', 'OpenAPI document', 'to generate a client')}
${link('/docs/guides', 'Guides', 'a tutorial, guides by task, settings and decisions')}
${link('/docs/errors', 'Error codes', 'what each one means and what to do')}
</ul>
${credentials}</html>`
}

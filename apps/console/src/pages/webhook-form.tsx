import { MultiSelect, SegmentedControl, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { once } from '../form-key.ts'
import { useListSearch } from '../list-search.ts'
import { pathOf } from '../objects.ts'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { Picker } from '../parts/picker.tsx'
import { SecretOnce } from '../parts/secret-once.tsx'
import { catalogueQuery, useSession } from '../session.ts'
import { webhooksChanged } from './webhook-changes.ts'

type Endpoint = Schemas['WebhookEndpoint']

export const LOST_SECRET = 'If it is lost, rotate the secret: the previous one goes on signing for a while.'

type Fields = { url: string; description: string; types: string[] }
const BLANK: Fields = { url: '', description: '', types: [] }
const RULES = { url: needed }

/** Fields that creating and changing have in common. */
function EndpointFields({ form }: { readonly form: Pick<UseFormReturnType<Fields>, 'getInputProps'> }) {
  const { mode } = useSession()
  const catalogue = useQuery(catalogueQuery)
  return (
    <>
      <TextInput
        label="URL"
        description={
          mode === 'sandbox' ? 'https; in the sandbox also http and this machine' : 'https, of a public host'
        }
        placeholder="https://shop.example.com/hook"
        inputMode="url"
        autoComplete="off"
        maxLength={2_048}
        {...form.getInputProps('url')}
      />
      <TextInput
        label="Description"
        description="For people, such as the system behind it"
        maxLength={255}
        {...form.getInputProps('description')}
      />
      <MultiSelect
        label="Events"
        description="Empty: everything that happens"
        data={(catalogue.data?.events ?? []).map(({ type }) => type)}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Clear Events' }}
        nothingFoundMessage="No event found"
        {...form.getInputProps('types')}
      />
    </>
  )
}

/** Registers an endpoint for a tenant; its secret is shown before its page is opened. */
export function CreateWebhook() {
  const navigate = useNavigate()
  const { search } = useListSearch()
  const [made, setMade] = useState<Schemas['WebhookEndpointWithSecret']>()
  const tenantId = search['tenantId'] ?? ''
  return (
    <>
      <FormDialog
        label="Create webhook"
        send="Create"
        initial={{ ...BLANK, kind: tenantId.startsWith('par_') ? 'partner' : 'merchant', tenantId }}
        rules={{ ...RULES, tenantId: needed }}
        fields={(form) => {
          const kind = form.getValues().kind === 'partner' ? 'partner' : 'merchant'
          return (
            <>
              <SegmentedControl
                aria-label="Whose it is"
                data={[
                  { value: 'merchant', label: 'Of a merchant' },
                  { value: 'partner', label: 'Of a partner' },
                ]}
                value={kind}
                onChange={(chosen) => form.setValues({ kind: chosen, tenantId: '' })}
              />
              <Picker key={kind} of={kind} {...form.getInputProps('tenantId')} />
              <EndpointFields form={form as never} />
            </>
          )
        }}
        submit={async ({ tenantId, url, description, types }, key) => {
          const endpoint = { url: url.trim(), description, types: types as Endpoint['types'] }
          setMade(
            await responseOf(
              api.POST('/webhooks', { params: { header: once(key) }, body: { tenantId, endpoint } }),
            ),
          )
        }}
      />
      <SecretOnce
        what="Signing secret"
        secret={made?.secret}
        lost={LOST_SECRET}
        beside={made ? [{ label: 'Endpoint id', value: made.endpointId }] : []}
        onDone={() => {
          setMade(undefined)
          void webhooksChanged()
          void navigate({ to: pathOf('webhookEndpoint', made!.endpointId) })
        }}
      />
    </>
  )
}

export function ChangeWebhook({
  endpoint: { endpointId, url, description, types },
}: {
  readonly endpoint: Endpoint
}) {
  return (
    <FormDialog
      label="Change"
      send="Save"
      variant="default"
      initial={{ url, description, types: types as string[] }}
      rules={RULES}
      fields={(form) => <EndpointFields form={form} />}
      submit={async (values, key) => {
        const body = { ...values, url: values.url.trim(), types: values.types as Endpoint['types'] }
        await responseOf(
          api.PATCH('/webhooks/{endpointId}', { params: { path: { endpointId }, header: once(key) }, body }),
        )
        await webhooksChanged()
      }}
    />
  )
}

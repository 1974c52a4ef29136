import {
  Alert,
  Button,
  Center,
  Divider,
  Paper,
  PasswordInput,
  Select,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useDocumentTitle } from '@mantine/hooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { responseOf } from '../../api.ts'
import type { Search } from '../../list-search.ts'
import { CodeInput } from '../../parts/code-input.tsx'
import { FailureAlert } from '../../parts/failure-alert.tsx'
import { needed } from '../../parts/form-dialog.tsx'
import { placeAfter } from '../../place-after.ts'
import { forgetPerson, queryClient } from '../../session.ts'
import { api, type Schemas } from '../api.ts'
import { memberQuery, portalQuery } from '../session.ts'
import { asksCode } from '../step-up.tsx'

export function SignIn() {
  useDocumentTitle('Sign in · svc portal')
  const { back } = useSearch({ strict: false }) as Search
  const router = useRouter()
  const form = useForm({
    initialValues: { name: '', password: '', code: '' },
    validate: { name: needed, password: (value) => (value === '' ? 'Needed' : null) },
  })
  const about = useQuery(portalQuery)
  const entered = (session: Schemas['MemberSession']) => {
    forgetPerson()
    queryClient.setQueryData(memberQuery.queryKey, session)
    router.history.push(`/portal${placeAfter(back)}`)
  }
  const enter = useMutation({
    mutationFn: ({ code, ...given }: typeof form.values) => {
      const body = { ...given, ...(code.trim() && { code: code.trim() }) }
      return responseOf(api.POST('/session', { body }))
    },
    onSuccess: (session) => entered(session),
  })
  const isFirstStep = asksCode(enter.error)
  return (
    <Center mih="100dvh" p="md" component="main">
      <Paper withBorder p="xl" w="100%" maw={420}>
        <Stack>
          <div>
            <Title order={1} size="h2">
              svc portal
            </Title>
            <Text c="dimmed">For merchants and partners.</Text>
          </div>
          {enter.error && !isFirstStep && <FailureAlert failed={enter.error} />}
          {about.data?.sandboxSignIn && <Sandbox enter={entered} />}
          <form onSubmit={form.onSubmit((given) => enter.mutate(given))} noValidate>
            <Stack gap="sm">
              <Fields form={form} asksCode={isFirstStep} />
              <Button
                type="submit"
                loading={enter.isPending}
                variant={about.data?.sandboxSignIn ? 'default' : 'filled'}
              >
                Sign in
              </Button>
              <NoAccount />
            </Stack>
          </form>
        </Stack>
      </Paper>
    </Center>
  )
}

interface FieldsProps {
  readonly form: UseFormReturnType<{ name: string; password: string; code: string }>
  readonly asksCode: boolean
}

const Fields = ({ form, asksCode }: FieldsProps) => (
  <>
    <TextInput
      label="Name"
      placeholder="asha@shop.example"
      autoComplete="username"
      autoCapitalize="none"
      {...form.getInputProps('name')}
    />
    <PasswordInput label="Password" autoComplete="current-password" {...form.getInputProps('password')} />
    {(asksCode || form.values.code !== '') && <CodeInput autoFocus {...form.getInputProps('code')} />}
  </>
)

const NoAccount = () => (
  <Text size="xs" c="dimmed">
    No account yet, or the password is lost? An administrator of your company makes a link for you.
  </Text>
)

/** One click, for a tenant of the sandbox on this machine. */
function Sandbox({ enter }: { readonly enter: (session: Schemas['MemberSession']) => void }) {
  const tenants = useQuery({
    queryKey: ['sandbox-tenants'],
    queryFn: () => responseOf(api.GET('/session/sandbox')),
  })
  const [chosen, choose] = useState<string | null>(null)
  const data = tenants.data?.data ?? []
  const tenantId = chosen ?? data[0]?.tenantId ?? ''
  const click = useMutation({
    mutationFn: () => responseOf(api.POST('/session/sandbox', { body: { tenantId } })),
    onSuccess: enter,
  })
  if (data.length === 0) return undefined
  return (
    <>
      <Alert color="brand" title="Sandbox">
        Nothing here is real money, so one click is enough on this machine.
      </Alert>
      <Select
        label="Merchant or partner"
        data={data.map((tenant) => ({ value: tenant.tenantId, label: `${tenant.name} (${tenant.kind})` }))}
        allowDeselect={false}
        searchable
        value={tenantId}
        onChange={choose}
      />
      {click.error && <FailureAlert failed={click.error} />}
      <Button size="md" loading={click.isPending} onClick={() => click.mutate()}>
        Enter the portal
      </Button>
      <Divider label="or as a member" />
    </>
  )
}

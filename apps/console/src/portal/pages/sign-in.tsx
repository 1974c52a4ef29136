import {
  Alert,
  Anchor,
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
import { asCallFailed, CallFailed } from '../../failure.ts'
import type { Search } from '../../list-search.ts'
import { CodeInput } from '../../parts/code-input.tsx'
import { FailureAlert } from '../../parts/failure-alert.tsx'
import { needed } from '../../parts/form-dialog.tsx'
import { signInWithPasskey } from '../../passkey.ts'
import { placeAfter } from '../../place-after.ts'
import { forgetPerson, queryClient } from '../../session.ts'
import { api, type Schemas } from '../api.ts'
import { memberQuery, portalQuery } from '../session.ts'
import { requiresCode } from '../step-up.tsx'

const NO_VALUES = { name: '', password: '', code: '', tenantId: '' }
type Values = typeof NO_VALUES

const TENANT_ID = /^(?:mer|par)_[a-z0-9]+$/

/** Empty fields are left out. */
const bodyOf = ({ name, password, code, tenantId }: Values) => ({
  name,
  password,
  ...(code.trim() && { code: code.trim() }),
  ...(tenantId.trim() && { tenantId: tenantId.trim() }),
})

/** The service does not say whether a person is a member, so the message names all that may be wrong. */
function refusalOf(error: unknown, tenantId: string): unknown {
  const { status, code, requestId } = asCallFailed(error)
  if (code !== 'wrong_password' || tenantId === '') return error
  const message = `Name or password is wrong, or you are not a member of ${tenantId}. Check the id, and use the password that you chose for this merchant or partner: each has its own.`
  return new CallFailed(status, code, message, requestId)
}

export function SignIn() {
  useDocumentTitle('Sign in · svc portal')
  const { back } = useSearch({ strict: false }) as Search
  const router = useRouter()
  const entered = (session: Schemas['MemberSession']) => {
    forgetPerson()
    queryClient.setQueryData(memberQuery.queryKey, session)
    router.history.push(`/portal${placeAfter(back)}`)
  }
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
          <Entry entered={entered} />
        </Stack>
      </Paper>
    </Center>
  )
}

/** The ways in, on the page of the sign-in or over another one. */
export function Entry({ entered }: { readonly entered: (session: Schemas['MemberSession']) => void }) {
  const form = useForm({
    initialValues: NO_VALUES,
    validate: {
      name: needed,
      password: (value) => (value === '' ? 'Required' : null),
      tenantId: (value) =>
        value.trim() === '' || TENANT_ID.test(value.trim()) ? null : 'An id such as mer_… or par_…',
    },
  })
  const about = useQuery(portalQuery)
  const enter = useMutation({
    mutationFn: (given: Values) => responseOf(api.POST('/session', { body: bodyOf(given) })),
    onSuccess: (session) => entered(session),
  })
  const isFirstStep = requiresCode(enter.error)
  return (
    <>
      {enter.error && !isFirstStep && (
        <FailureAlert failed={refusalOf(enter.error, enter.variables.tenantId.trim())} tried="Sign in" />
      )}
      {about.data?.sandboxSignIn && <Sandbox enter={entered} />}
      {about.data?.passkeys && <PasskeyEntry enter={entered} begun={enter.reset} />}
      <form onSubmit={form.onSubmit((given) => enter.mutate(given))} noValidate>
        <Stack gap="sm">
          <Fields form={form} requiresCode={isFirstStep} />
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
    </>
  )
}

interface PasskeyEntryProps {
  readonly enter: (session: Schemas['MemberSession']) => void
  readonly begun: () => void
}

function PasskeyEntry({ enter, begun }: PasskeyEntryProps) {
  const prove = useMutation({
    mutationFn: () => signInWithPasskey<Schemas['MemberSession']>(),
    onMutate: begun,
    onSuccess: enter,
  })
  return (
    <>
      {prove.error && <FailureAlert failed={prove.error} tried="Sign in" />}
      <Button variant="default" loading={prove.isPending} onClick={() => prove.mutate()}>
        Sign in with a passkey
      </Button>
      <Divider label="or with a password" />
    </>
  )
}

interface FieldsProps {
  readonly form: UseFormReturnType<Values>
  readonly requiresCode: boolean
}

const Fields = ({ form, requiresCode }: FieldsProps) => (
  <>
    <TextInput
      label="Name"
      placeholder="asha@shop.example"
      autoComplete="username"
      autoCapitalize="none"
      {...form.getInputProps('name')}
    />
    <PasswordInput label="Password" autoComplete="current-password" {...form.getInputProps('password')} />
    <TenantField form={form} />
    {(requiresCode || form.values.code !== '') && <CodeInput autoFocus {...form.getInputProps('code')} />}
  </>
)

/** Most people are members of one tenant: the field is shown to those who ask for it. */
function TenantField({ form }: Pick<FieldsProps, 'form'>) {
  const [isShown, show] = useState(false)
  return isShown ? (
    <TextInput
      label="Id of the merchant or partner"
      description="Begins with mer_ or par_; the overview shows it, and the link of your invitation after #. Leave it empty to get to where you signed in last."
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      autoFocus
      {...form.getInputProps('tenantId')}
    />
  ) : (
    <Anchor component="button" type="button" size="sm" ta="start" onClick={() => show(true)}>
      Member of several merchants or partners?
    </Anchor>
  )
}

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
      {click.error && <FailureAlert failed={click.error} tried="Sign in" />}
      <Button size="md" loading={click.isPending} onClick={() => click.mutate()}>
        Enter the portal
      </Button>
      <Divider label="or as a member" />
    </>
  )
}

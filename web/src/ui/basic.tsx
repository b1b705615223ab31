// Small parts without state of their own: buttons, fields, badges, times, empty and loading states.
import {
  forwardRef, useEffect, useId, useReducer,
  type ButtonHTMLAttributes, type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from "react";
import { LoaderCircle } from "lucide-react";
import { ApiError, sentence } from "../api/client";
import { exact, relative } from "../format";
import { cx } from "./cx";
import { Tooltip } from "./tooltip";

export type Tone = "plain" | "good" | "warn" | "danger" | "info" | "accent";

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  tone?: "plain" | "primary" | "danger" | "quiet";
  small?: boolean;
  busy?: boolean;
  icon?: ReactNode;
  keys?: string; // the key that does the same, shown on wide screens
  keysOff?: boolean; // it does not do so now: its name is not seen, but its room stays, so that no button moves
};
export const Button = forwardRef<HTMLButtonElement, ButtonProps>(function Button(
  { tone = "plain", small, busy, icon, keys, keysOff, className, children, disabled, type = "button", ...rest },
  ref,
) {
  return (
    <button
      ref={ref} type={type} className={cx("button", `button-${tone}`, small && "button-small", className)}
      disabled={disabled || busy} aria-busy={busy || undefined} {...rest}
    >
      {busy ? <LoaderCircle className="spin" size={16} aria-hidden /> : icon}
      {children}
      {keys && <kbd className={cx("button-key", keysOff && "button-key-off")} aria-hidden>{keys}</kbd>}
    </button>
  );
});

/** A button that is only an icon: the label is its name and its tooltip. */
type IconButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & { label: string; children: ReactNode };
export const IconButton = forwardRef<HTMLButtonElement, IconButtonProps>(function IconButton(
  { label, className, children, type = "button", ...rest }, ref,
) {
  return (
    <Tooltip text={label} names>
      <button ref={ref} type={type} className={cx("icon-button", className)} aria-label={label} {...rest}>
        {children}
      </button>
    </Tooltip>
  );
});

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  hideLabel?: boolean;
}
function FieldFrame({ id, label, hint, error, hideLabel, children }: FieldProps & { id: string; children: ReactNode }) {
  return (
    <div className="field">
      <label htmlFor={id} className={hideLabel ? "visually-hidden" : "field-label"}>{label}</label>
      {children}
      {hint && <div id={`${id}-hint`} className="field-hint">{hint}</div>}
      {error && <div id={`${id}-error`} className="field-error" role="alert">{error}</div>}
    </div>
  );
}
const described = (id: string, { hint, error }: FieldProps): string | undefined =>
  [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ") || undefined;

export const Input = forwardRef<HTMLInputElement, FieldProps & InputHTMLAttributes<HTMLInputElement>>(
  function Input({ label, hint, error, hideLabel, className, ...rest }, ref) {
    const id = useId();
    const frame = { label, hint, error, hideLabel } as FieldProps;
    return (
      <FieldFrame id={id} {...frame}>
        <input ref={ref} id={id} className={cx("input", className)} aria-invalid={!!error || undefined}
          aria-describedby={described(id, frame)} {...rest} />
      </FieldFrame>
    );
  },
);
export const TextArea = forwardRef<HTMLTextAreaElement, FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>>(
  function TextArea({ label, hint, error, hideLabel, className, ...rest }, ref) {
    const id = useId();
    const frame = { label, hint, error, hideLabel } as FieldProps;
    return (
      <FieldFrame id={id} {...frame}>
        <textarea ref={ref} id={id} className={cx("input textarea", className)} aria-invalid={!!error || undefined}
          aria-describedby={described(id, frame)} {...rest} />
      </FieldFrame>
    );
  },
);
export const Select = forwardRef<HTMLSelectElement, FieldProps & SelectHTMLAttributes<HTMLSelectElement>>(
  function Select({ label, hint, error, hideLabel, className, ...rest }, ref) {
    const id = useId();
    const frame = { label, hint, error, hideLabel } as FieldProps;
    return (
      <FieldFrame id={id} {...frame}>
        <select ref={ref} id={id} className={cx("input select", className)} aria-describedby={described(id, frame)}
          {...rest} />
      </FieldFrame>
    );
  },
);

interface SwitchProps {
  label: string;
  hint?: ReactNode;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}
export function Switch({ label, hint, checked, disabled, onChange }: SwitchProps) {
  const id = useId();
  return (
    <div className="switch">
      <input id={id} type="checkbox" role="switch" checked={checked} disabled={disabled}
        aria-describedby={hint ? `${id}-hint` : undefined} onChange={(event) => onChange(event.target.checked)} />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint && <div id={`${id}-hint`} className="field-hint">{hint}</div>}
      </div>
    </div>
  );
}

/** One of a few: light, dark, auto. */
interface ChoiceProps<V extends string> {
  label: string;
  value: V;
  options: readonly { value: V; label: string }[];
  onChange: (value: V) => void;
  hideLabel?: boolean;
}
export function Choice<V extends string>({ label, value, options, onChange, hideLabel }: ChoiceProps<V>) {
  const id = useId();
  return (
    <fieldset className="choice">
      <legend className={hideLabel ? "visually-hidden" : "field-label"}>{label}</legend>
      <div className="choice-row">
        {options.map((option) => (
          <label key={option.value} className={cx("choice-option", option.value === value && "choice-on")}>
            <input type="radio" name={id} value={option.value} checked={option.value === value}
              onChange={() => onChange(option.value)} />
            {option.label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`badge badge-${tone}`}>{children}</span>;
}

/** Relative, the exact time on hover and focus; goes on by itself. */
export function Time({ at, prefix = "" }: { at: string | undefined; prefix?: string }) {
  const [, tick] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const timer = setInterval(tick, 30_000);
    return () => clearInterval(timer);
  }, []);
  if (!at) return null;
  return <time dateTime={at} title={exact(at)} className="time">{prefix}{relative(at)}</time>;
}

export function Empty({ title, children, action, icon }: {
  title: string; children?: ReactNode; action?: ReactNode; icon?: ReactNode;
}) {
  return (
    <div className="empty">
      {icon && <div className="empty-icon" aria-hidden>{icon}</div>}
      <p className="empty-title">{title}</p>
      {children && <p className="empty-text">{children}</p>}
      {action}
    </div>
  );
}

export function Skeleton({ lines = 3, label = "Loading" }: { lines?: number; label?: string }) {
  return (
    <div className="skeleton" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, i) => <div key={i} className={`skeleton-line skeleton-${i % 3}`} />)}
    </div>
  );
}

/** What went wrong, in a sentence, and what to do. */
export function Trouble({ error, what, retry }: { error: unknown; what?: string; retry?: () => void }) {
  const offline = error instanceof ApiError && error.offline;
  return (
    <div className="trouble" role="alert">
      <p>{what ? `${what}: ` : ""}{sentence(error)}{offline && " It is tried again by itself."}</p>
      {retry && !offline && <Button small onClick={retry}>Try again</Button>}
    </div>
  );
}

/** Loading, failed, empty or there: the four states of anything that was read. */
export function Shown<R>({ of, what, lines, children }: {
  of: { data: R | undefined; error: unknown; loading: boolean; reload: () => void };
  what: string; lines?: number; children: (data: R) => ReactNode;
}) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error) return <Trouble error={of.error} what={`Could not load ${what}`} retry={of.reload} />;
  return <Skeleton lines={lines ?? 3} label={`Loading ${what}`} />;
}

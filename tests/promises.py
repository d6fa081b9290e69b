"""What Open Interpreter's documentation promises, and the test that proves it here, or why it cannot hold.

tests/unit/project/test_promises.py sees that each test exists; tests/reference_pages.py makes a page of it.
"""

from typing import NamedTuple

_CLI = "unit/program/test_cli.py"
_API = "unit/program/test_api.py"
_SCRIPT = "unit/program/test_script_computer.py"
_PACKAGE = "unit/program/test_python_package.py"
_E2E = "e2e/doors/test_api.py"
_PLAIN = "e2e/doors/test_plain.py"
_COMMANDS = "unit/program/test_commands.py"
_PROFILES = "unit/settings/test_profiles.py"
_PROFILE = "unit/settings/test_profile.py"
_PYTHON = "unit/settings/test_python_profile.py"
_ERRORS = "unit/llm/test_errors.py"
_REQUEST = "unit/llm/test_request.py"
_COST = "unit/llm/test_context_and_cost.py"
_SESSION = "unit/engine/test_session.py"
_CHAT = "pilot/test_chat.py"
_ORIGINAL = "unit/server/test_original.py"
_HOSTILE = "unit/server/test_hostile.py"
_SETUP = "unit/open_interpreter/test_setup.py"
_THEIR_PROFILES = "unit/open_interpreter/test_imported_profiles.py"
_CONVERSATIONS = "unit/open_interpreter/test_conversations.py"
_DESKTOP = "computer/test_desktop.py"
_CELLS = "computer/test_cells.py"
_ACCOUNTS = "computer/test_accounts.py"
_FILES = "computer/test_files_and_docs.py"
_CONTRACT = "runtimes/test_contract.py"
_CLASSES = "runtimes/languages/test_class_languages.py"
_FUNCTION = "unit/models/test_function_model.py"
_WORKS = "test_every_flag_in_every_spelling_sets_its_setting"
_SETS = "test_every_documented_attribute_acts_or_says_why_not"
_REPLACED = "test_flags_for_what_is_not_here_are_refused_with_what_is"
_PACKAGED = "test_the_packaged_profiles_work_by_name_or_say_what_is_gone"
_GONE_MODELS = "test_models_that_are_gone_say_so_in_a_sentence"
_THEIR_MODELS = "test_names_of_open_interpreter_find_their_provider"
_DOCUMENTED = "test_names_and_parameters_are_those_of_open_interpreter"


class Promise(NamedTuple):
    """A promise: the file and the test that prove it, or `gone`, why it cannot hold any more."""

    text: str
    file: str = ""
    test: str = ""
    gone: str = ""


def _gone(text: str, why: str) -> Promise:
    return Promise(text, gone=why)


PROMISES: dict[str, tuple[Promise, ...]] = {
    "Command line": (
        Promise("words after the command begin the chat", _CLI, "test_what_is_no_flag_is_the_first_message"),
        Promise("every setting has a flag, in each documented spelling", _CLI, _WORKS),
        Promise("short forms: -m -t -cw -x -xo -b -ab -av -ci -sm -y -nhl -lsv", _CLI,
                "test_the_originals_short_forms_work_together"),
        Promise("-s TEXT is the system message; without a text it names --stdin", _CLI,
                "test_what_is_wrong_is_reported_in_one_line"),
        Promise("switches can be taken back with --no-", _CLI,
                "test_every_switch_can_be_set_and_taken_back"),
        Promise("--safe and --safe_mode alone ask", _CLI, "test_safe_without_a_value_asks"),
        Promise("--profile alone lists the profiles and opens their folder", _CLI,
                "test_profile_without_a_name_lists_them"),
        Promise("--profile NAME, path or URL", _PROFILES,
                "test_a_profile_from_the_network_is_shown_whole_and_used_once_it_is_trusted"),
        Promise("--config_file NAME", _CLI, "test_the_older_flag_for_a_profile_names_one"),
        Promise("--profiles", _THEIR_PROFILES, "test_the_command_line_imports_and_lists"),
        Promise("--reset_profile", _PROFILES, "test_a_profile_is_reset_and_kept_as_it_was"),
        Promise("--conversations", _CLI, "test_resume_finds_the_last_conversation_or_the_one_named"),
        Promise("--local_models", _CLI, "test_local_models_are_listed_with_ways_to_get_some"),
        Promise("--llama3", _CLI, "test_flags_of_the_original_stand_for_others"),
        Promise("--codestral, --groq", _CLI,
                "test_flags_of_the_original_do_not_override_what_a_person_chose"),
        Promise("--assistant, --codestral-vision, --codestral-os, --llama3-vision, --llama3-os", _CLI,
                "test_flags_of_packaged_profiles_choose_them"),
        Promise("--offline", _CLI, "test_offline_with_a_server_elsewhere_stops_the_start"),
        Promise("--local", "unit/models/test_local_servers.py",
                "test_a_plain_session_in_local_mode_takes_what_is_served_here"),
        Promise("--max_budget", _COST, "test_a_request_that_would_exceed_the_budget_is_not_sent"),
        Promise("--loop", _SESSION, "test_loop_mode_asks_until_the_model_says_the_phrase"),
        Promise("--stdin", _PLAIN, "test_a_request_from_standard_input_runs_when_told_so"),
        Promise("--plain", _PLAIN, "test_ask_approve_run_and_the_answer"),
        Promise("--server", _ORIGINAL, "test_a_message_gets_its_answer_between_flags"),
        Promise("--version and --help", _CLI, "test_help_and_version_work_everywhere"),
        Promise("--config, --use_containers, --tools, --save-profile name what replaced them", _CLI,
                _REPLACED),
        Promise("an unknown flag is refused with the nearest one", _CLI,
                "test_what_is_wrong_is_reported_in_one_line"),
    ),
    "Commands and input": (
        Promise("%% COMMAND runs a shell command", _COMMANDS, "test_a_command_acts"),
        Promise("%help, %auto_run, %tokens", _COMMANDS, "test_a_command_acts"),
        Promise("%verbose", "pilot/screens/test_log_panel.py",
                "test_verbose_shows_steps_and_times_and_no_words_of_the_conversation"),
        Promise("%undo", _SESSION, "test_undo_takes_the_last_message_back"),
        Promise("an unknown command is answered with the nearest one", _COMMANDS,
                "test_a_mistyped_name_is_answered_with_the_nearest"),
        Promise("%jupyter writes a notebook", "unit/output/test_export.py",
                "test_a_notebook_runs_in_a_jupyter_kernel_and_shows_the_same"),
        Promise("%markdown", "unit/output/test_export.py", "test_markdown_has_everything_to_read"),
        Promise("%save_message writes what Open Interpreter reads", "unit/output/test_export.py",
                "test_json_is_what_the_original_reads"),
        Promise("%load_message reads files of every version", "unit/open_interpreter/test_messages.py",
                "test_hundreds_of_conversations_of_all_shapes_come_in_and_go_out_as_they_were"),
        Promise('three quotation marks (""") begin and end a message of several lines',
                "unit/input/test_multiline.py", "test_three_quotation_marks_hold_lines_together"),
        Promise("lines of ``` around a message of several lines", "unit/input/test_multiline.py",
                "test_three_quotation_marks_hold_lines_together"),
        Promise("the path of an image in a message attaches it", "unit/llm/test_vision.py",
                "test_a_named_image_is_sent_to_a_model_that_sees"),
    ),
    "Python package": (
        Promise("from interpreter import interpreter, OpenInterpreter, AsyncInterpreter", _PACKAGE,
                "test_an_old_script_runs_and_ends_without_close"),
        Promise("an installed Open Interpreter is not shadowed", _PACKAGE,
                "test_an_installed_original_is_found_first"),
        Promise("chat() starts an interactive chat", _PACKAGE,
                "test_chat_alone_is_an_interactive_session"),
        Promise("chat() in a notebook", _PACKAGE, "test_chat_alone_in_a_notebook_asks_line_by_line"),
        Promise("the calls of the documentation, in their order", _PACKAGE,
                "test_the_calls_of_the_documentation_run_in_their_order"),
        Promise("chat(blocking=False) in a notebook asks with buttons",
                "unit/program/test_notebook_question.py",
                "test_a_turn_in_a_thread_asks_with_buttons_and_waiting_for_a_click_is_refused"),
        Promise("a turn in a notebook, with its images", _PACKAGE,
                "test_a_notebook_shows_the_turn_with_its_images"),
        Promise("chat(text) prints and returns the new messages", _E2E,
                "test_without_a_stream_the_new_messages_come_back"),
        Promise("chat(stream=True) yields the documented chunks in order", _E2E,
                "test_a_turn_comes_in_the_originals_order"),
        Promise("chat(list) replaces the conversation", _PACKAGE,
                "test_a_list_of_messages_replaces_the_conversation"),
        Promise("chat(list) ending with code runs that code", _PACKAGE,
                "test_code_at_the_end_runs_before_the_model_is_asked"),
        Promise("chat(blocking=False), wait(), responding, last_messages_count", _PACKAGE,
                "test_a_turn_in_the_background_can_be_waited_for"),
        Promise("chat(return_messages=True)", _PACKAGE,
                "test_return_messages_returns_the_whole_conversation"),
        Promise("messages can be read, kept and restored", _E2E,
                "test_the_messages_are_the_chunks_put_together"),
        Promise("messages of version 0.1", _PACKAGE, "test_messages_of_version_0_1_reach_the_model"),
        Promise("a history is the same request, lived, loaded or passed in",
                "unit/llm/test_same_history.py",
                "test_the_history_that_goes_out_is_the_same_in_all_three_ways"),
        Promise("reset()", _E2E, "test_reset_forgets_words_and_variables"),
        Promise("load(), extend_config(), display_message()", _PACKAGE,
                "test_load_extend_config_and_display_message"),
        Promise("every documented attribute of interpreter, llm and computer", _API, _SETS),
        Promise("settings as arguments of OpenInterpreter()", _API,
                "test_settings_are_arguments_too_and_unknown_ones_are_refused"),
        Promise("interpreter.offline", _API, "test_offline_sends_nothing_elsewhere"),
        Promise("interpreter.max_budget", _API,
                "test_a_budget_that_is_spent_or_cannot_be_kept_sends_nothing"),
        Promise("interpreter.safe_mode", _API, "test_safe_mode_asks_about_risky_code_although_all_runs"),
        Promise("interpreter.loop, loop_message, loop_breakers", _API,
                "test_loop_goes_on_until_a_breaker_is_reported"),
        Promise("interpreter.verbose", _API, "test_verbose_prints_each_step_and_no_longer"),
        Promise("system_message, custom_instructions, templates, execution_instructions", _API,
                "test_templates_and_instructions_are_in_the_request"),
        Promise("conversations are saved and listed; conversation_filename", _PACKAGE,
                "test_conversations_are_saved_for_the_navigator"),
        Promise("conversation_history, conversation_history_path", _PACKAGE,
                "test_conversations_are_not_saved_where_that_is_off"),
        Promise("default.yaml is inherited by the package", _PACKAGE, "test_the_default_profile_is_read"),
        Promise("llm.completions", _FUNCTION, "test_the_function_of_the_originals_documentation_works"),
        Promise("start and end flags as documented, once each", _PACKAGE,
                "test_the_flags_of_a_turn_come_once_each_with_nothing_added"),
        Promise("computer.run returns a message also where nothing was printed", _PACKAGE,
                "test_a_run_that_prints_nothing_returns_an_empty_message"),
        Promise("conversation_history_path relative to the script", _PACKAGE,
                "test_the_folder_of_conversations_may_be_given_as_seen_from_the_script"),
        Promise("breaking off at a confirmation rejects the code", _E2E,
                "test_closing_the_stream_at_the_question_rejects_the_code"),
        Promise("console output as printed, with line feeds", _E2E,
                "test_results_have_line_feeds_and_no_colours"),
        Promise("several instances at once", _PACKAGE, "test_asyncio_gets_the_same_chunks"),
        Promise("two agents talking", _PACKAGE, "test_two_agents_talk_as_in_the_documentation"),
        Promise("computer.run(language, code)", _E2E,
                "test_languages_run_without_a_model_and_remember"),
        Promise("computer.run(display=True)", _E2E, "test_running_with_display_prints_what_comes"),
        Promise("Python code runs in the Python of the script", _PACKAGE,
                "test_python_runs_in_the_interpreter_of_the_script"),
        Promise("computer.languages: read, append, replace", _E2E,
                "test_languages_may_be_listed_added_and_replaced"),
        Promise("language classes", _CLASSES, "test_it_runs_and_remembers_and_its_line_is_marked"),
        Promise("computer.stop() and terminate()", _CLASSES,
                "test_stopping_calls_stop_and_keeps_the_memory"),
    ),
    "Server": (
        Promise("WebSocket with start and end flags", _ORIGINAL,
                "test_a_message_gets_its_answer_between_flags"),
        Promise("command go", _ORIGINAL, "test_code_waits_for_go_and_runs_as_it_was_shown"),
        Promise("command stop", _ORIGINAL, "test_stop_ends_a_run"),
        Promise("status complete and errors", _ORIGINAL,
                "test_a_failed_request_is_an_error_and_complete"),
        Promise("messages of several parts", _ORIGINAL, "test_parts_of_a_message_reach_the_model"),
        Promise("settings are read; changed where the start allows it", _ORIGINAL,
                "test_settings_are_changed_only_where_the_start_allows_it"),
        Promise("POST /openai/chat/completions", _ORIGINAL,
                "test_the_openai_client_is_answered_whole_and_streamed"),
        Promise("acknowledgements", _ORIGINAL, "test_each_chunk_waits_for_its_acknowledgement"),
        Promise("INTERPRETER_HOST, _PORT, _API_KEY", _HOSTILE,
                "test_the_variables_of_open_interpreter_count"),
        Promise("the documented WebSocket client", _ORIGINAL,
                "test_the_documented_websocket_client_runs"),
    ),
    "Computer API": (
        Promise("names and parameters as documented", _CELLS, _DOCUMENTED),
        Promise("interpreter.computer.mouse and the other parts, in a script", _SCRIPT,
                "test_every_part_of_the_computer_object_is_an_attribute"),
        Promise("interpreter.computer.ai asks the model of the interpreter", _SCRIPT,
                "test_a_script_asks_the_interpreters_model"),
        Promise("interpreter.computer.import_computer_api and interpreter.os", _SCRIPT,
                "test_cells_have_the_object_where_the_settings_want_it"),
        Promise("import_computer_api: the model is told every function", _CELLS,
                "test_the_model_is_reported_every_function"),
        Promise("display and screenshots", _DESKTOP, "test_the_screen_is_shown_once_until_it_changes"),
        Promise("mouse", _DESKTOP, "test_pointer_clicks_drags_and_scrolls_where_it_should"),
        Promise("mouse.click(text)", _DESKTOP, "test_a_button_is_found_by_its_text"),
        Promise("keyboard", _DESKTOP, "test_keys_are_pressed_together_and_released"),
        Promise("clipboard and selected text", _DESKTOP, "test_clipboard_and_selection_are_read_and_set"),
        Promise("mail", _ACCOUNTS, "test_a_message_is_sent_with_its_attachment"),
        Promise("calendar", _ACCOUNTS, "test_events_are_created_listed_and_deleted"),
        Promise("contacts", _ACCOUNTS, "test_contacts_are_looked_up"),
        Promise("files.search and files.edit", _FILES, "test_files_are_found_by_name_and_by_text"),
        Promise("docs.search", _FILES, "test_documentation_is_found_in_tools_modules_and_files"),
        Promise("skills", _FILES, "test_a_skill_is_made_found_and_run_in_another_conversation"),
        Promise("ai.summarize", _FILES, "test_every_part_of_a_long_text_is_asked_about"),
    ),
    "Profiles": (
        Promise("nested and dotted keys", _PROFILE,
                "test_a_setting_is_read_from_its_key_nested_or_dotted"),
        Promise("keys of older versions, in our folder", _PROFILES,
                "test_an_old_profile_is_brought_up_to_date_and_kept"),
        Promise("keys of older versions, anywhere", _PYTHON,
                "test_a_yaml_profile_with_older_keys_counts_wherever_it_is"),
        Promise("offline and computer.offline in one profile", _PROFILES,
                "test_a_setting_that_is_given_by_an_older_key_too_counts_once_and_never_widens"),
        Promise("old default system messages are replaced", _PROFILES,
                "test_the_system_message_of_an_older_version_is_left_out_and_what_was_added_is_kept"),
        Promise("llm.execution_instructions: False", _PROFILE,
                "test_false_leaves_the_execution_instructions_out"),
        Promise("computer.languages", _SESSION,
                "test_only_the_languages_of_the_profile_are_offered_and_run"),
        Promise("JSON profiles", _PYTHON, "test_a_json_profile_is_read"),
        Promise("all 28 profiles of 0.4.3 work by name, or say what is gone", _PYTHON, _PACKAGED),
        Promise("the Python profiles of 0.4.3 are used from their files", _PYTHON,
                "test_the_profiles_of_open_interpreter_are_used_or_refused_with_a_reason"),
        Promise("Python profiles, shown and trusted first", _PROFILES,
                "test_a_program_is_run_only_after_it_was_trusted"),
        Promise("Python profiles: computer.run", _PYTHON, "test_code_that_a_program_runs_is_startup_code"),
        Promise("startup code runs before the first code", "runtimes/python/test_startup_code.py",
                "test_it_runs_once_before_the_first_code_and_silently"),
        Promise("Python profiles: display_message, local_setup", _PYTHON,
                "test_what_a_program_displays_is_reported_and_loading_needs_nothing"),
        Promise("Python profiles: filtering of languages", _PYTHON,
                "test_languages_are_restricted_in_every_manner"),
        Promise("Python profiles: llm.completions", _FUNCTION,
                "test_a_profiles_function_is_the_model_and_remembers"),
        Promise("Python profiles: max_budget and other limits", _PYTHON,
                "test_limits_count_by_their_older_names_and_as_arguments"),
        _gone("a language class inside a Python profile",
              "a profile runs in a process of its own; the refusal says to put the class into a file"),
        _gone("the profile e2b", "it ran code on the servers of E2B; its class works as a custom language"),
        _gone("the profile template_profile", "it was a template to copy; the settings make profiles"),
    ),
    "Models": (
        Promise("claude-2, claude-3.5, gemini-pro, command, j2-light, @cf/... find their provider", _ERRORS,
                _THEIR_MODELS),
        Promise("vllm/NAME with a base", _ERRORS,
                "test_names_of_servers_before_a_model_are_not_part_of_its_name"),
        Promise("Ollama", _COST, "test_ollama_is_asked_for_the_window_tools_and_vision_of_a_model"),
        Promise("LM Studio, Jan, llama.cpp on this machine", "unit/models/test_local_servers.py",
                "test_a_server_is_found_with_its_models"),
        Promise("every hosted provider takes any conversation", "unit/llm/test_requests.py",
                "test_every_provider_takes_any_conversation"),
        Promise("local mode: window of 3000 tokens", _COST,
                "test_local_mode_has_a_window_where_nobody_knows_one"),
        Promise("llm.supports_functions: False, code in fences", _SESSION,
                "test_fenced_code_runs_where_the_model_calls_no_tools"),
        Promise("gone models say so", _ERRORS, _GONE_MODELS),
        _gone("the hosted model i", "the service no longer exists"),
        _gone("PaLM", "Google replaced it by Gemini"),
        _gone("Anyscale", "it no longer serves models"),
        _gone("Petals", "its package no longer works with LiteLLM"),
    ),
    "Code and safety": (
        Promise("asks before it runs code", _SESSION, "test_nothing_runs_before_it_is_approved"),
        Promise("code can be edited first", _SESSION,
                "test_what_runs_is_what_was_approved_and_the_model_hears_of_the_edit"),
        Promise("a decline is told to the model", _SESSION,
                "test_a_rejection_with_a_reason_lets_the_model_go_on"),
        Promise("auto_run asks nothing", _SESSION, "test_auto_run_asks_nothing"),
        Promise("code is scanned", "unit/review/test_scanner.py", "test_python_is_read"),
        Promise("output is cut for the model", _SESSION,
                "test_long_output_is_kept_at_both_ends_and_whole_in_a_file"),
        Promise("languages remember from run to run", _CONTRACT,
                "test_memory_lasts_from_run_to_run"),
        Promise("the active line is marked", _CONTRACT, "test_the_active_line_is_reported"),
        Promise("a run can be stopped", _CONTRACT,
                "test_an_interrupt_stops_the_run_and_keeps_the_memory"),
        Promise("programs may ask for input", _CONTRACT,
                "test_a_question_is_reported_and_can_be_answered"),
        Promise("plots are shown and sent", "runtimes/values/test_pictures.py",
                "test_a_figure_is_shown_once"),
        Promise("old messages that do not fit are left out", _REQUEST,
                "test_the_oldest_turns_are_left_out_and_counted"),
        Promise("{{ }} in a system message is text, not code", _REQUEST,
                "test_the_system_message_says_where_it_is_and_evaluates_nothing"),
    ),
    "Coming from Open Interpreter": (
        Promise("the first start offers to bring everything in", "e2e/test_first_run.py",
                "test_what_open_interpreter_left_is_brought_in_with_one_key"),
        Promise("what would change is shown, auto_run in words", _SETUP,
                "test_what_is_there_is_described_with_what_it_would_change"),
        Promise("the old folders are not changed", _SETUP,
                "test_everything_is_brought_in_once_and_nothing_of_theirs_changes"),
        Promise("conversations of 0.1 to 0.4.3", _CONVERSATIONS,
                "test_earlier_versions_folders_are_read_and_what_a_migration_copied_comes_in_once"),
        Promise("skills", "unit/engine/test_skills.py",
                "test_functions_of_open_interpreter_become_a_skill"),
    ),
}  # fmt: skip
